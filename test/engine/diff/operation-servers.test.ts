/**
 * The first servers that an operation or a path names, in a contract that named none. Calls of such a contract go to its
 * location (OpenAPI 3.1.0 §4.8.1). That may be the host that is named for all operations. It is another one for a few.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const DONE = { responses: { '200': { description: 'done' } } }
const HOST = [{ url: 'https://files.example.com' }]
const ROOT = [{ url: '/' }]

/** @param parts the contract itself, the path `/files`, its operation, and the operation of another path */
function contract({ root = {}, path = {}, operation = {}, other = {} }: Readonly<Record<string, Json>>): Json {
  return {
    openapi: '3.1.0',
    info: { title: 'Example', version: '1' },
    ...root,
    paths: { '/files': { ...path, get: { ...DONE, ...operation } }, '/notes': { get: { ...DONE, ...other } } },
  }
}

const ROWS: readonly (readonly [name: string, head: Readonly<Record<string, Json>>, worst: string])[] = [
  ['an operation goes to a host, and others stay', { operation: { servers: HOST } }, 'dangerous'],
  ['a path goes to a host, and others stay', { path: { servers: HOST } }, 'dangerous'],
  ['the host is one of several addresses', { operation: { servers: [...ROOT, ...HOST] } }, 'none'],
  ['the list of an operation is the location itself', { operation: { servers: ROOT } }, 'none'],
  ['the list of an operation is empty', { operation: { servers: [] } }, 'none'],
  ['all operations name the host', { operation: { servers: HOST }, other: { servers: HOST } }, 'none'],
  ['the contract names the host, too', { root: { servers: HOST }, operation: { servers: HOST } }, 'none'],
  ['the contract names the host', { root: { servers: HOST } }, 'none'],
  ['a path of the location', { operation: { servers: [{ url: '/v2' }] } }, 'dangerous'],
]

suite('the first servers of an operation', () => {
  for (const [name, head, worst] of ROWS)
    test(name, () => assert.equal(worstOf('openapi', contract({}), contract(head)), worst))
})
