/** The meaning of changes of a JSON Schema document outside its schemas, which the families judge. */
import { contractRules, MALFORMED_PART, type RuleRow } from '../row.ts'

const AREA = 'json schema'
const NOTHING_TO_DO = 'Nothing needs to be done.'

const ROWS = {
  'schema-document-added': {
    level: 'info',
    direction: 'none',
    area: AREA,
    kind: 'existence',
    action: 'added',
    effect: 'widens',
    sentence: 'the schema was added',
    why: 'Nobody rests on it yet.',
    fix: NOTHING_TO_DO,
  },
  'schema-document-removed': {
    level: 'breaking',
    direction: 'none',
    area: AREA,
    kind: 'existence',
    action: 'removed',
    effect: 'narrows',
    sentence: 'the schema was removed',
    why: 'Whoever validates by it, generates code from it or refers to it fails.',
    fix: 'Keep it beside its successor until nobody uses it any more.',
  },
  'schema-definition-added': {
    level: 'info',
    direction: 'none',
    area: AREA,
    kind: 'existence',
    action: 'added',
    effect: 'none',
    sentence: 'the definition `{name}` was added',
    why: 'Nobody rests on it yet.',
    fix: NOTHING_TO_DO,
  },
  'schema-definition-removed': {
    level: 'dangerous',
    direction: 'none',
    area: AREA,
    kind: 'existence',
    action: 'removed',
    effect: 'may-narrow',
    sentence: 'the definition `{name}` was removed',
    why: 'Schemas elsewhere may refer to it, and code generated from it loses the type; neither can be seen from the document.',
    fix: 'Keep the name as a reference to its successor.',
  },
  'schema-draft-changed': {
    level: 'dangerous',
    direction: 'none',
    area: AREA,
    kind: 'language',
    action: 'changed',
    effect: 'may-narrow',
    sentence: 'the schema is written in {after} instead of {before} ($schema)',
    why: 'Validators that do not know the draft refuse the schema, and some keywords mean something else in it.',
    fix: 'Check that every validator in use knows the draft.',
  },
  'schema-id-changed': {
    level: 'dangerous',
    direction: 'none',
    area: AREA,
    kind: 'identity',
    action: 'changed',
    effect: 'may-narrow',
    sentence: 'the schema has the address {after} instead of {before} ($id)',
    why: 'Schemas that refer to it by its old address do not find it.',
    fix: 'Publish it under its old address too.',
  },
  'schema-reference-unresolved': {
    level: 'dangerous',
    direction: 'none',
    area: AREA,
    kind: 'structure',
    action: 'added',
    effect: 'may-narrow',
    sentence: 'a reference leads to `{after}`, which neither the document nor the files with it hold',
    why: 'What it stands for is not compared, and validators that cannot follow it fail.',
    fix: 'Define what is referred to, or hand in the file that holds it.',
  },
  'schema-part-malformed': { ...MALFORMED_PART, area: AREA },
} as const satisfies Readonly<Record<`schema-${string}`, RuleRow>>

export type JsonSchemaRuleId = keyof typeof ROWS

export const JSON_SCHEMA_RULES = contractRules(ROWS)
