/** Which comparison answers for which keyword, and the one pass over a pair of schemas that calls those concerned. */
import { align } from './alignment.ts'
import { compareAnnotations } from './annotations.ts'
import { compareArrays } from './arrays.ts'
import { compareBounds } from './bounds.ts'
import type { ComparisonContext, Examination, PairContext } from './examination.ts'
import { compareComposition } from './composition.ts'
import { compareConditions } from './conditions.ts'
import { selectSubtypes } from './discriminator.ts'
import { compareObjects } from './objects.ts'
import { compareTypes } from './types.ts'
import { compareUnevaluated } from './unevaluated.ts'
import { compareValues } from './values.ts'
import { compareXml } from './xml.ts'
import type { JsonRecord } from './located.ts'

interface KeywordGroup {
  readonly keywords: readonly string[]
  readonly compare: (examination: Examination) => void
}

/** In the order in which changes of one schema are reported. */
const GROUPS: readonly KeywordGroup[] = [
  { keywords: ['type', 'format', 'nullable', 'x-nullable'], compare: compareTypes },
  { keywords: ['enum', 'const', 'default', 'pattern', 'x-extensible-enum'], compare: compareValues },
  {
    keywords: [
      'maximum',
      'minimum',
      'exclusiveMaximum',
      'exclusiveMinimum',
      'multipleOf',
      'maxLength',
      'minLength',
      'maxItems',
      'minItems',
      'maxProperties',
      'minProperties',
      'maxContains',
      'minContains',
    ],
    compare: compareBounds,
  },
  {
    keywords: [
      'properties',
      'required',
      'additionalProperties',
      'patternProperties',
      'propertyNames',
      'dependentRequired',
      'dependentSchemas',
      'dependencies',
    ],
    compare: compareObjects,
  },
  {
    keywords: ['items', 'prefixItems', 'additionalItems', 'contains', 'maxContains', 'uniqueItems'],
    compare: compareArrays,
  },
  // What is left unevaluated follows from what every other keyword looks at.
  {
    keywords: [
      'unevaluatedProperties',
      'properties',
      'patternProperties',
      'additionalProperties',
      'dependentSchemas',
      'unevaluatedItems',
      'items',
      'prefixItems',
      'contains',
      'allOf',
      'anyOf',
      'oneOf',
      'if',
      'then',
      'else',
    ],
    compare: compareUnevaluated,
  },
  { keywords: ['allOf', 'anyOf', 'oneOf', 'discriminator'], compare: compareComposition },
  {
    keywords: ['not', 'if', 'then', 'else', 'contentEncoding', 'contentMediaType', 'contentSchema'],
    compare: compareConditions,
  },
  {
    keywords: ['readOnly', 'writeOnly', 'deprecated', 'x-sunset', 'x-stability-level', 'allOf'],
    compare: compareAnnotations,
  },
]

const GROUP_BITS: ReadonlyMap<string, number> = groupBits()

function groupBits(): ReadonlyMap<string, number> {
  const bits = new Map<string, number>()
  for (const [index, { keywords }] of GROUPS.entries()) {
    for (const keyword of keywords) bits.set(keyword, (bits.get(keyword) ?? 0) | (1 << index))
  }
  return bits
}

/** Keywords that a comparison looks at. One that is not known is an annotation (JSON Schema 2020-12 core, section 4.3.1). */
export const COMPARED: ReadonlySet<string> = new Set([...GROUP_BITS.keys(), 'xml'])

/** The bit of the form in XML, beside those of the groups. */
const XML = 1 << GROUPS.length

/** Says what changed between two schemas, in the groups that differ, and descends into the schemas they hold. */
export function compareKeywords(
  { before, after }: Pick<PairContext, 'before' | 'after'>,
  differing: number,
  context: ComparisonContext,
): void {
  const plain: Examination = { before, after, base: before.value, head: after.value, ...context }
  // Before anything is rewritten: neither the form of a value in XML nor what a discriminator selects follows from which
  // values there are.
  if ((differing & XML) !== 0) compareXml(plain)
  selectSubtypes(plain)
  const bits = differing & ~XML
  if (bits === 0) return
  const aligned = align(plain)
  if (aligned === null) return
  const { base, head, isRewritten } = aligned
  const examination = isRewritten ? { ...plain, base, head } : plain
  const groups = isRewritten ? differingGroups(base, head) & ~XML : bits
  for (let index = 0; groups >> index !== 0; index += 1) if (groups & (1 << index)) GROUPS[index]?.compare(examination)
}

/**
 * The groups with a keyword whose value is not plainly the same on both sides. The form in XML depends on what stands
 * around it, and what a discriminator selects on other schemas, so both are always looked at. 0: there is nothing to compare.
 */
export function differingGroups(base: JsonRecord, head: JsonRecord): number {
  if (base === head) return 0
  let bits = base.xml === undefined && head.xml === undefined ? 0 : XML
  if (base.discriminator !== undefined) bits |= GROUP_BITS.get('discriminator') ?? 0
  for (const name in base) if (base[name] !== head[name]) bits |= GROUP_BITS.get(name) ?? 0
  for (const name in head) if (base[name] === undefined) bits |= GROUP_BITS.get(name) ?? 0
  return bits
}
