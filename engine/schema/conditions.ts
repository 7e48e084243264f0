/** Conditional and negated schemas, and what a string's content is. */
import type { Examination } from './examination.ts'
import { locate } from './subschemas.ts'

/** A narrower `then`, `else` or content schema narrows the whole, so a change within them has a direction of its own. */
const DIRECTED = ['then', 'else', 'contentSchema'] as const
/** A narrower `not` or `if` may widen or move the whole: a change within them is one change of the whole, without direction. */
const UNDIRECTED = ['not', 'if'] as const

export function compareConditions(examination: Examination): void {
  const { before, after, base: old, head: now, add: say, descend, isSameShape } = examination
  for (const keyword of [...UNDIRECTED, ...DIRECTED]) {
    const had = old[keyword] !== undefined
    const has = now[keyword] !== undefined
    if (!had && !has) continue
    const steps = [keyword]
    if (had !== has) {
      say({
        keyword,
        action: has ? 'added' : 'removed',
        name: null,
        before: old[keyword] ?? null,
        after: now[keyword] ?? null,
        steps,
      })
      continue
    }
    const was = locate(before, old, keyword)
    const is = locate(after, now, keyword)
    if (DIRECTED.some((directed) => directed === keyword)) descend(steps, was, is)
    else if (!isSameShape(was, is)) {
      say({ keyword, action: 'changed', name: null, before: old[keyword], after: now[keyword], steps })
    }
  }
  for (const keyword of ['contentEncoding', 'contentMediaType'] as const) {
    const before = old[keyword] ?? null
    const after = now[keyword] ?? null
    if (before !== after)
      say({ keyword, action: 'changed', name: null, before: before, after: after, steps: [keyword] })
  }
}
