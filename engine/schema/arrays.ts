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
  const baseItems = itemsOf(base, keyword)
  const headItems = itemsOf(head, keyword)
  const shared = Math.min(baseItems.length, headItems.length)
  for (let index = 0; index < shared; index += 1) {
    descend(
      [`${keyword}[${index}]`],
      locateItem(before, baseItems, keyword, index),
      locateItem(after, headItems, keyword, index),
    )
  }
  if (baseItems.length === headItems.length) return
  const action = headItems.length > baseItems.length ? 'added' : 'removed'
  const rest = (action === 'added' ? headItems : baseItems).slice(shared)
  const name = rest.map((_, offset) => `#${shared + offset + 1}`).join(', ')
  const [removed, added] = action === 'added' ? [null, rest] : [rest, null]
  add({ keyword, action, name, before: removed, after: added, steps: [keyword, String(shared)] })
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
  const condition = { before: base[keyword] ?? null, after: head[keyword] ?? null }
  if (base[keyword] !== undefined && head[keyword] !== undefined) {
    const [baseSchema, headSchema] = [locate(before, base, keyword), locate(after, head, keyword)]
    if (base.maxContains === undefined && head.maxContains === undefined) {
      descend(steps, baseSchema, headSchema)
      return
    }
    if (isSameShape(baseSchema, headSchema)) return
  }
  if (condition.before !== null)
    add({ keyword, action: 'removed', name: null, before: condition.before, after: null, steps })
  if (condition.after !== null)
    add({ keyword, action: 'added', name: null, before: null, after: condition.after, steps })
}

function compareUnique({ base, head, add }: Examination): void {
  const before = base.uniqueItems === true
  const after = head.uniqueItems === true
  if (before === after) return
  add({
    keyword: 'uniqueItems',
    action: after ? 'added' : 'removed',
    name: null,
    before,
    after,
    steps: ['uniqueItems'],
  })
}
