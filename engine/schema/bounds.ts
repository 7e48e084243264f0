/** Upper and lower bounds: numbers that a keyword sets on a value, a length or a count. */
import type { Examination } from './examination.ts'
import type { JsonRecord } from './located.ts'

interface KeywordBound {
  readonly keyword: string
  /** JSON Schema gives the keyword this value when it is absent; null where absence means no bound. */
  readonly implied: number | null
}

const BOUNDS: readonly KeywordBound[] = [
  { keyword: 'maximum', implied: null },
  { keyword: 'minimum', implied: null },
  { keyword: 'exclusiveMaximum', implied: null },
  { keyword: 'exclusiveMinimum', implied: null },
  { keyword: 'maxLength', implied: null },
  { keyword: 'minLength', implied: 0 },
  { keyword: 'maxItems', implied: null },
  { keyword: 'minItems', implied: 0 },
  { keyword: 'maxProperties', implied: null },
  { keyword: 'minProperties', implied: 0 },
  { keyword: 'maxContains', implied: null },
  { keyword: 'minContains', implied: null },
]

export function compareBounds(examination: Examination): void {
  const { base, head, add } = examination
  for (const { keyword, implied } of BOUNDS) {
    const baseBound = boundOf(base, keyword, implied)
    const headBound = boundOf(head, keyword, implied)
    const [before, after] = keyword === 'minContains' ? containsBounds(baseBound, headBound) : [baseBound, headBound]
    if (before === after) continue
    const action = before === null ? 'set' : after === null ? 'unset' : after > before ? 'increased' : 'decreased'
    if (before === null && after !== null && isImplied(keyword, after, base)) continue
    if (after === null && before !== null && isImplied(keyword, before, head)) continue
    add({
      keyword,
      action,
      name: null,
      before: base[keyword] ?? before,
      after: head[keyword] ?? after,
      steps: [keyword],
    })
  }
  compareMultiple(examination)
}

/** The other keyword that bounds the same side of a number, and whether its bound leaves less than `value` does. */
const PARTNERS: Readonly<
  Record<string, { readonly keyword: string; readonly leavesLess: (partner: number, value: number) => boolean }>
> = {
  maximum: { keyword: 'exclusiveMaximum', leavesLess: (partner, value) => partner <= value },
  exclusiveMaximum: { keyword: 'maximum', leavesLess: (partner, value) => partner < value },
  minimum: { keyword: 'exclusiveMinimum', leavesLess: (partner, value) => partner >= value },
  exclusiveMinimum: { keyword: 'minimum', leavesLess: (partner, value) => partner > value },
}

/** A bound that comes where the other keyword bounds as much, or goes where it does, takes and gives nothing. */
function isImplied(keyword: string, value: number, other: JsonRecord): boolean {
  const partner = PARTNERS[keyword]
  const bound = partner === undefined ? null : boundOf(other, partner.keyword, null)
  return bound !== null && partner !== undefined && partner.leavesLess(bound, value)
}

/** `contains` alone asks for one item; only minContains 0 asks for less (JSON Schema 2020-12 validation §6.4.5). */
function containsBounds(before: number | null, after: number | null): readonly [number | null, number | null] {
  return [before ?? (after === 0 ? 1 : null), after ?? (before === 0 ? 1 : null)]
}

function boundOf(schema: JsonRecord, keyword: string, implied: number | null): number | null {
  const value = schema[keyword]
  return typeof value === 'number' ? value : implied
}

function compareMultiple({ base, head, add }: Examination): void {
  const before = boundOf(base, 'multipleOf', null)
  const after = boundOf(head, 'multipleOf', null)
  if (before === after) return
  const keyword = 'multipleOf'
  const action =
    before === null
      ? 'set'
      : after === null
        ? 'unset'
        : isExactMultiple(after, before)
          ? 'narrowed'
          : isExactMultiple(before, after)
            ? 'widened'
            : 'changed'
  add({ keyword, action, name: null, before, after, steps: [keyword] })
}

function isExactMultiple(value: number, of: number): boolean {
  if (of === 0) return false
  return Number.isInteger(value) && Number.isInteger(of) ? value % of === 0 : Number.isInteger(value / of)
}
