/** Keywords that say how a value is used and how long it lives: read-only, write-only, deprecation, stability. */
import type { Examination } from './examination.ts'
import type { JsonRecord } from './located.ts'
import type { ResolvedSchema, SchemaSource } from './source.ts'
import { isMarked, USAGE_MARKS, type UsageMark } from './usage-marks.ts'

/** Keywords that are reported here: they hold for every value that the other keywords admit. */
export const USAGE_KEYWORDS = ['readOnly', 'writeOnly', 'deprecated', 'x-sunset', 'x-stability-level'] as const

export function compareAnnotations({ base, head, before, after, sources, add }: Examination): void {
  compareUsage({
    base: withMarks(base, before, sources.before),
    head: withMarks(head, after, sources.after),
    stated: (mark) => base[mark] !== undefined || head[mark] !== undefined,
    add,
  })
}

/** The members of a schema with the marks that its parts state. */
export function withMarks(members: JsonRecord, schema: ResolvedSchema, source: SchemaSource): JsonRecord {
  if (schema.value.allOf === undefined) return members
  const marks = USAGE_MARKS.filter((mark) => members[mark] !== true && isMarked(schema, mark, source))
  return marks.length === 0 ? members : { ...members, ...Object.fromEntries(marks.map((mark) => [mark, true])) }
}

interface UsageOnSides extends Pick<Examination, 'base' | 'head' | 'add'> {
  /** Whether a mark is stated beside the other keywords. Else a part states it. */
  readonly stated: (mark: UsageMark) => boolean
}

/** Reports changed usage between two sides whose members hold the marks of their parts. */
export function compareUsage({ base, head, stated, add }: UsageOnSides): void {
  for (const keyword of USAGE_MARKS) {
    const before = base[keyword] === true
    const after = head[keyword] === true
    const action = after ? 'became' : 'ceased'
    const steps = [stated(keyword) ? keyword : 'allOf']
    if (before !== after) add({ keyword, action, name: null, before, after, steps })
  }
  compareLifecycle(base, head, add)
  const stability = 'x-stability-level'
  if (base[stability] !== head[stability]) {
    const [before, after] = [base[stability] ?? null, head[stability] ?? null]
    add({ keyword: 'stability', action: 'changed', name: null, before, after, steps: [stability] })
  }
}

/** Deprecation and its sunset day are one statement. */
export interface Lifecycle {
  readonly deprecated: boolean
  readonly sunset: unknown
  readonly stability: unknown
}

function compareLifecycle(base: JsonRecord, head: JsonRecord, add: Examination['add']): void {
  const before = lifecycleOf(base)
  const after = lifecycleOf(head)
  if (before.deprecated === after.deprecated && before.sunset === after.sunset) return
  const action = before.deprecated === after.deprecated ? 'changed' : after.deprecated ? 'became' : 'ceased'
  add({ keyword: 'deprecated', action, name: null, before, after, steps: ['deprecated'] })
}

function lifecycleOf(schema: JsonRecord): Lifecycle {
  return {
    deprecated: schema.deprecated === true,
    sunset: schema['x-sunset'] ?? null,
    stability: schema['x-stability-level'] ?? null,
  }
}
