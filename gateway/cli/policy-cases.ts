/**
 * Test cases of a policy pack (cases.yaml next to it): findings, or a change of a contract, and a context as input, a decision
 * as expected output. Read and checked here.
 */
import { Ajv } from 'ajv'
import type { Static } from 'typebox'
import { ARTIFACT_TYPES, DECISIONS, LEVELS, ok, Type, type Result } from '../../engine/internal.ts'
import { plainSchema } from '../settings/input-schema.ts'
import type { Mistake } from '../errors/mistake.ts'
import { mistakesOf } from '../settings/schema-mistakes.ts'
import { placedMistake, readSourceText } from '../settings/source-text.ts'
import { messageOf } from '../errors/startup-error.ts'
import { readTextFile } from '../runtime/regular-file.ts'

const closed = { additionalProperties: false }
const optionalText = (description: string) => Type.Optional(Type.String({ description }))

const CaseFinding = Type.Object(
  {
    rule: Type.String({ description: 'Rule id.' }),
    level: Type.Enum(LEVELS, { description: 'Level of the finding.' }),
    operation: optionalText('METHOD /path that the finding affects.'),
    tool: optionalText('Tool that the finding affects.'),
  },
  closed,
)
export type CaseFinding = Static<typeof CaseFinding>

const CaseChange = Type.Object(
  {
    type: Type.Enum(ARTIFACT_TYPES, { description: 'Type of the contract.' }),
    before: Type.String({ description: 'Text before; empty where the contract is new.' }),
    after: Type.String({ description: 'Text after; empty where it is deleted.' }),
  },
  closed,
)

const CaseDecision = Type.Object(
  {
    decision: Type.Enum(DECISIONS, { description: 'What was decided.' }),
    ago: Type.Integer({ minimum: 0, description: 'Seconds before the decision of the case.' }),
    same_input: Type.Optional(Type.Boolean({ description: 'About the same change set.' })),
  },
  closed,
)

const PolicyCase = Type.Object(
  {
    description: Type.String({ minLength: 1, description: 'What the case shows.' }),
    at: Type.Optional(
      Type.String({
        pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$',
        description: 'UTC instant of the decision; default: now. For freeze windows, waivers and conditions on time.',
      }),
    ),
    route: optionalText('Route of the intercepted call.'),
    versions: Type.Optional(
      Type.Object(
        { base: Type.String({ description: 'Before.' }), head: Type.String({ description: 'After.' }) },
        { ...closed, description: 'Versions in the contract; for minimum_bump.' },
      ),
    ),
    release: Type.Optional(
      Type.Object(
        {
          base: Type.Optional(Type.String({ description: 'The version before; absent: there was none.' })),
          head: Type.String({ description: 'The version that is published.' }),
        },
        { ...closed, description: 'Versions of the package or server that contains the contract; for minimum_bump.' },
      ),
    ),
    consumers: Type.Optional(
      Type.Array(Type.String({ description: 'Name.' }), {
        description: 'Declared consumers that use the whole contract.',
      }),
    ),
    history: Type.Optional(Type.Array(CaseDecision, { description: 'Earlier decisions of the same scope.' })),
    failed: Type.Optional(Type.Literal(true, { description: 'The artifact could not be analysed.' })),
    findings: Type.Optional(Type.Array(CaseFinding)),
    change: Type.Optional(CaseChange),
    context: Type.Object(
      { operation: Type.String({ description: 'Operation.' }), environment: optionalText('Environment.') },
      closed,
    ),
    want: Type.Object(
      {
        decision: Type.Enum(DECISIONS, { description: 'Decision expected.' }),
        observed: Type.Optional(Type.Enum(DECISIONS, { description: 'Decision if observing rules were enforced.' })),
        rule: optionalText('Policy rule that decided.'),
        reason: optionalText('Code of the first blocking reason.'),
        warning: optionalText('Code of the first warning.'),
        ttl: Type.Optional(Type.Integer({ description: 'Validity, seconds.' })),
      },
      closed,
    ),
  },
  closed,
)
export type PolicyCase = Static<typeof PolicyCase>

export const CaseFile = Type.Object({ cases: Type.Array(PolicyCase, { minItems: 1 }) }, closed)

const checkCases = new Ajv({ allErrors: true, verbose: true, strict: false }).compile<Static<typeof CaseFile>>(
  plainSchema(CaseFile),
)

/** Every mistake in the file with its line and column. */
export function readCases(file: string): Result<readonly PolicyCase[], readonly Mistake[]> {
  let text: string
  try {
    text = readTextFile(file)
  } catch (error) {
    return {
      ok: false,
      problem: [{ place: file, path: '', message: 'the cases cannot be read', fix: messageOf(error) }],
    }
  }
  const source = readSourceText(file, text)
  if (!source.ok) return source
  const document = source.value
  const { value } = document
  if (checkCases(value)) return ok(value.cases)
  const mistakes = mistakesOf(checkCases.errors ?? []).map((mistake) => placedMistake(document, mistake))
  return { ok: false, problem: mistakes }
}
