/** Keywords that say how a value is used and how long it lives: read-only, write-only, deprecation, stability. */
import type { Examination } from './examination.ts'
import type { JsonRecord } from './located.ts'

/** Keywords that are reported here: they hold for every value that the other keywords admit. */
export const USAGE_KEYWORDS = ['readOnly', 'writeOnly', 'deprecated', 'x-sunset', 'x-stability-level'] as const

export function compareAnnotations({ base, head, add }: Pick<Examination, 'base' | 'head' | 'add'>): void {
  for (const keyword of ['readOnly', 'writeOnly'] as const) {
    const before = base[keyword] === true
    const after = head[keyword] === true
    if (before !== after)
      add({ keyword, action: after ? 'became' : 'ceased', name: null, before, after, steps: [keyword] })
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
