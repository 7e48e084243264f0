/** What arrays may hold: items by position and beyond, what they must contain, and whether items may repeat. */
import type { Examination } from './examination.ts'
import { compareAllowance, itemsOf, locate, locateItem } from './subschemas.ts'

export function compareArrays(examination: Examination): void {
  compareAllowance(examination, 'items')
  comparePositions(examination)
  compareContains(examination)
  compareUnique(examination)
}

function comparePositions(examination: Examination): void {
  const { before, after, base, head, add, descend } = examination
  const keyword = 'prefixItems'
  const left = itemsOf(base, keyword)
  const right = itemsOf(head, keyword)
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
  add({ keyword, action, name, before: before0, after: after0, steps: [keyword, String(shared)] })
  reportOpenPositions(examination, action, shared)
}

/** Where items beyond the named positions were (or are) admitted, naming a position takes from them, and unnaming it gives back. */
function reportOpenPositions({ base, head, add }: Examination, action: 'added' | 'removed', shared: number): void {
  const isOpen = (action === 'added' ? base : head).items !== false
  if (!isOpen) return
  const [before, after] = [base.prefixItems ?? null, head.prefixItems ?? null]
  const steps = ['prefixItems', String(shared)]
  add({ keyword: 'prefixItems', action: action === 'added' ? 'narrowed' : 'widened', name: null, before, after, steps })
}

/**
 * Under `maxContains` more items may meet a wider condition than the bound admits. A changed condition is then reported as
 * one removed and one added, because neither "narrower" nor "wider" describes the whole.
 */
function compareContains({ before, after, base, head, add, descend, isSameShape }: Examination): void {
  const keyword = 'contains'
  const steps = [keyword]
  const [was, is] = [base[keyword] ?? null, head[keyword] ?? null]
  if (base[keyword] !== undefined && head[keyword] !== undefined) {
    const [one, other] = [locate(before, base, keyword), locate(after, head, keyword)]
    if (base.maxContains === undefined && head.maxContains === undefined) {
      descend(steps, one, other)
      return
    }
    if (isSameShape(one, other)) return
  }
  if (was !== null) add({ keyword, action: 'removed', name: null, before: was, after: null, steps })
  if (is !== null) add({ keyword, action: 'added', name: null, before: null, after: is, steps })
}

function compareUnique({ base, head, add }: Examination): void {
  const before = base.uniqueItems === true
  const after = head.uniqueItems === true
  if (before === after) return
  add({
    keyword: 'uniqueItems',
    action: after ? 'added' : 'removed',
    name: null,
    before: before,
    after: after,
    steps: ['uniqueItems'],
  })
}
