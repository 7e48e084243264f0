/** Servers and schemes of AsyncAPI in other letters, and the first definition of a variable. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { foundBetween } from '../edit-run.ts'

const application = (server: object): object => ({
  asyncapi: '3.0.0',
  info: { title: 't', version: '1' },
  servers: { s: { host: 'broker.example', protocol: 'kafka', ...server } },
})
const found = (before: object, after: object): readonly string[] =>
  (foundBetween('asyncapi', application(before), application(after)) ?? []).map((one) =>
    one.split(' ').slice(0, 2).join(' '),
  )
const secured = (scheme: object): object => ({ security: [scheme] })
const header = (name: string, place = 'header'): object => secured({ type: 'httpApiKey', in: place, name })

suite('letters of names', () => {
  const SAME: readonly (readonly [string, object, object])[] = [
    ['of hosts', { host: 'A.Example:9092' }, { host: 'a.example:9092' }],
    ['of hosts beside variables', { host: '{env}.Example' }, { host: '{Stage}.example' }],
    ['of schemes', secured({ type: 'http', scheme: 'Bearer' }), secured({ type: 'http', scheme: 'bearer' })],
    ['of headers', header('X-Key'), header('x-key')],
    ['of protocols', { protocol: 'KAFKA' }, { protocol: 'kafka' }],
  ]
  for (const [name, before, after] of SAME)
    test(`${name} have no case`, () => {
      assert.deepEqual(found(before, after), [])
    })

  const OTHER: readonly (readonly [string, object, object, string])[] = [
    ['of paths', { pathname: '/A' }, { pathname: '/a' }, 'breaking asyncapi-server-address-changed'],
    ['of users', { host: 'A@h' }, { host: 'a@h' }, 'breaking asyncapi-server-address-changed'],
    ['of queries', header('Key', 'query'), header('key', 'query'), 'breaking asyncapi-security-alternative-removed'],
  ]
  for (const [name, before, after, expected] of OTHER)
    test(`${name} have a case`, () => {
      assert.ok(found(before, after).includes(expected))
    })
})

const mqtt = (host: string): object => ({ host, protocol: 'mqtt' })
const url = (address: string, protocol: string): object => ({ host: undefined, url: address, protocol })

suite('ports of addresses', () => {
  const CHANGED = ['breaking asyncapi-server-address-changed']
  const ROWS: readonly (readonly [string, object, object, readonly string[]])[] = [
    ['written out', mqtt('h'), mqtt('h:1883'), []],
    ['left out', mqtt('h:1883'), mqtt('h'), []],
    ['an empty one', mqtt('h:'), mqtt('h'), []],
    ['of an IPv6 address', mqtt('[::1]'), mqtt('[::1]:1883'), []],
    ['of a URL that is encrypted', url('mqtts://h:8883', 'mqtt'), url('mqtts://h', 'mqtt'), []],
    ['before a path', url('wss://h/p', 'ws'), url('wss://h:443/p', 'ws'), []],
    ['another one', mqtt('h'), mqtt('h:8883'), CHANGED],
    ['of another scheme', url('mqtts://h:8883', 'mqtt'), mqtt('h'), CHANGED],
    ['in a variable', mqtt('{h}'), mqtt('{h}:1883'), CHANGED],
    ['of a protocol that states none', { host: 'h' }, { host: 'h:9092' }, CHANGED],
  ]
  for (const [name, before, after, expected] of ROWS)
    test(name, () => {
      assert.deepEqual(found(before, after), expected)
    })
})

test('the first definition of a variable may take values away', () => {
  const host = '{env}.example'
  const defined = { host, variables: { env: { enum: ['a'], default: 'a' } } }
  assert.deepEqual(found({ host }, defined), ['breaking asyncapi-server-variable-narrowed'])
  assert.deepEqual(found({ host }, { host, variables: { env: { default: 'a' } } }), [])
})
