/** Keywords that say how a value is used and how long it lives: read-only, write-only, deprecation, stability. */
import type { Examination } from './comparison.ts'
import type { JsonRecord } from './located.ts'

/** Keywords that are told here: what they say of a schema holds for whatever its other keywords admit. */
export const USAGE_KEYWORDS = ['readOnly', 'writeOnly', 'deprecated', 'x-sunset', 'x-stability-level'] as const

export function compareAnnotations({ old, now, say }: Pick<Examination, 'old' | 'now' | 'say'>): void {
  for (const keyword of ['readOnly', 'writeOnly'] as const) {
    const was = old[keyword] === true
    const is = now[keyword] === true
    if (was !== is)
      say({ keyword, action: is ? 'became' : 'ceased', name: null, before: was, after: is, steps: [keyword] })
  }
  compareLifecycle(old, now, say)
  const stability = 'x-stability-level'
  if (old[stability] !== now[stability]) {
    const [before, after] = [old[stability] ?? null, now[stability] ?? null]
    say({ keyword: 'stability', action: 'changed', name: null, before, after, steps: [stability] })
  }
}

/** Deprecation and its sunset day are one statement. */
export interface Lifecycle {
  readonly deprecated: boolean
  readonly sunset: unknown
  readonly stability: unknown
}

function compareLifecycle(old: JsonRecord, now: JsonRecord, say: Examination['say']): void {
  const before = lifecycleOf(old)
  const after = lifecycleOf(now)
  if (before.deprecated === after.deprecated && before.sunset === after.sunset) return
  const action = before.deprecated === after.deprecated ? 'changed' : after.deprecated ? 'became' : 'ceased'
  say({ keyword: 'deprecated', action, name: null, before, after, steps: ['deprecated'] })
}

export function lifecycleOf(schema: JsonRecord): Lifecycle {
  return {
    deprecated: schema.deprecated === true,
    sunset: schema['x-sunset'] ?? null,
    stability: schema['x-stability-level'] ?? null,
  }
}
