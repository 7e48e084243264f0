/** What arrays may hold: items by position and beyond, what they must contain, and whether items may repeat. */
import type { Examination } from './comparison.ts'
import { compareAllowance, itemsOf, locate, locateItem } from './parts.ts'

export function compareArrays(examination: Examination): void {
  compareAllowance(examination, 'items')
  comparePositions(examination)
  compareContains(examination)
  compareUnique(examination)
}

function comparePositions(examination: Examination): void {
  const { before, after, old, now, say, descend } = examination
  const keyword = 'prefixItems'
  const left = itemsOf(old, keyword)
  const right = itemsOf(now, keyword)
  const shared = Math.min(left.length, right.length)
  for (let index = 0; index < shared; index += 1) {
    descend(
      [`${keyword}[${index}]`],
      locateItem(before, left, keyword, index),
      locateItem(after, right, keyword, index),
    )
  }
  if (left.length === right.length) return
  const action = right.length > left.length ? 'added' : 'removed'
  const [longer, before0, after0] =
    right.length > left.length ? [right, null, right.slice(shared)] : [left, left.slice(shared), null]
  const name = longer
    .slice(shared)
    .map((_, offset) => `#${shared + offset + 1}`)
    .join(', ')
  say({ keyword, action, name, before: before0, after: after0, steps: [keyword, String(shared)] })
  tellOpenPositions(examination, action, shared)
}

/** Where items beyond the named positions were (or are) admitted, naming a position takes from them, and unnaming it gives back. */
function tellOpenPositions({ old, now, say }: Examination, action: 'added' | 'removed', shared: number): void {
  const isOpen = (action === 'added' ? old : now).items !== false
  if (!isOpen) return
  const [before, after] = [old.prefixItems ?? null, now.prefixItems ?? null]
  const steps = ['prefixItems', String(shared)]
  say({ keyword: 'prefixItems', action: action === 'added' ? 'narrowed' : 'widened', name: null, before, after, steps })
}

/**
 * Under `maxContains` a wider condition is met more often than it may be: then another condition is one that went and one
 * that came, since neither narrower nor wider says what became of the whole.
 */
function compareContains({ before, after, old, now, say, descend, isSameShape }: Examination): void {
  const keyword = 'contains'
  const steps = [keyword]
  const [was, is] = [old[keyword] ?? null, now[keyword] ?? null]
  if (old[keyword] !== undefined && now[keyword] !== undefined) {
    const [one, other] = [locate(before, old, keyword), locate(after, now, keyword)]
    if (old.maxContains === undefined && now.maxContains === undefined) {
      descend(steps, one, other)
      return
    }
    if (isSameShape(one, other)) return
  }
  if (was !== null) say({ keyword, action: 'removed', name: null, before: was, after: null, steps })
  if (is !== null) say({ keyword, action: 'added', name: null, before: null, after: is, steps })
}

function compareUnique({ old, now, say }: Examination): void {
  const was = old.uniqueItems === true
  const is = now.uniqueItems === true
  if (was === is) return
  say({
    keyword: 'uniqueItems',
    action: is ? 'added' : 'removed',
    name: null,
    before: was,
    after: is,
    steps: ['uniqueItems'],
  })
}
