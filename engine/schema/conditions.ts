/** Conditional and negated schemas, and what a string's content is. */
import { isEqual } from './equality.ts'
import type { Examination } from './examination.ts'
import { locate } from './subschemas.ts'

/** A narrower `then`, `else` or content schema narrows the whole, so a change within them has a direction of its own. */
const DIRECTED = ['then', 'else', 'contentSchema'] as const
/** A narrower `not` or `if` may widen or move the whole: a change within them is one change of the whole, without direction. */
const UNDIRECTED = ['not', 'if'] as const

export function compareConditions(examination: Examination): void {
  const { before, after, base, head, add: say, descend, isSameShape } = examination
  for (const keyword of [...UNDIRECTED, ...DIRECTED]) {
    const had = base[keyword] !== undefined
    const has = head[keyword] !== undefined
    if (!had && !has) continue
    const steps = [keyword]
    if (had !== has) {
      say({
        keyword,
        action: has ? 'added' : 'removed',
        name: null,
        before: base[keyword] ?? null,
        after: head[keyword] ?? null,
        steps,
      })
      continue
    }
    const pair = [locate(before, base, keyword), locate(after, head, keyword)] as const
    if (DIRECTED.some((directed) => directed === keyword)) descend(steps, ...pair)
    else if (!isSameShape(...pair)) {
      say({ keyword, action: 'changed', name: null, before: base[keyword], after: head[keyword], steps })
    }
  }
  for (const keyword of ['contentEncoding', 'contentMediaType'] as const) {
    const values = { before: base[keyword] ?? null, after: head[keyword] ?? null }
    if (!isEqual(values.before, values.after))
      say({ keyword, action: 'changed', name: null, ...values, steps: [keyword] })
  }
}
