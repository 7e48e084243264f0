/** An address of every page of the console, in a scene with something to look at. A page without one fails the test. */
import assert from 'node:assert/strict'
import { PAGES } from '../../gateway/console/serving/pages.ts'
import { at, listAt, textAt } from '../json.ts'
import type { ConsoleScene } from './console-scene.ts'

/** Pages that are files, not HTML. */
const FILES: ReadonlySet<string> = new Set(['/console/ledger/export'])

/** Further addresses of a page, where it looks different. */
const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  '/console/approvals': ['/console/approvals?state=expired'],
  '/console/ledger': ['/console/ledger?records=calls', '/console/ledger?decision=BLOCK&environment=production'],
  '/console/contracts': ['/console/contracts?q=order'],
  '/console/contracts/:name': ['/console/contracts/orders?q=id'],
}

export async function consoleAddresses(scene: ConsoleScene): Promise<readonly string[]> {
  const { body } = await scene.api('GET', '/api/v1/approvals?state=pending')
  const requests = listAt(body, 'approvals').slice(0, 2)
  const ids: Readonly<Record<string, readonly string[]>> = {
    '/console/approvals/:id': requests.map((row) => textAt(row, 'id')),
    '/console/decisions/:id': requests.map((row) => textAt(row, 'decision_id')),
  }
  const shown = PAGES.filter(({ method, path }) => method === 'GET' && !FILES.has(path))
  const addresses = shown.flatMap(({ path }) => {
    const own = ids[path]?.map((id) => path.replace(':id', id)) ?? [path.replace(':name', 'orders')]
    return [...own, ...(VARIANTS[path] ?? [])]
  })
  assert.ok(addresses.length >= shown.length + 5 && addresses.every((path) => !path.includes(':')), addresses.join())
  assert.ok(requests.every((row) => at(row, 'id') !== undefined))
  return [...addresses, '/console/nowhere']
}
