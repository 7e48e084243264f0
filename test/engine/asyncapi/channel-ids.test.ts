/** Ids of channels are not on the wire. Channels of one address, and those without one, keep their partner under any id. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worstOf, type Worst } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'object', properties: { x: { type: 'string' } } }
const NUMBER = { type: 'number' }

interface Shape {
  readonly id: string
  readonly address: string | null
  readonly server?: 's' | 'u'
  readonly payload: Json
}

/** An application that sends to each of the channels. */
function application(...channels: readonly Shape[]): Json {
  const entries = channels.map(({ id, address, server, payload }) => [
    id,
    {
      address,
      ...(server !== undefined && { servers: [{ $ref: `#/servers/${server}` }] }),
      messages: { m: { payload } },
    },
  ])
  return {
    asyncapi: '3.0.0',
    info: { title: 't', version: '1' },
    servers: { s: { host: 's.example', protocol: 'mqtt' }, u: { host: 'u.example', protocol: 'mqtt' } },
    channels: Object.fromEntries(entries),
    operations: Object.fromEntries(
      channels.map(({ id }) => [`o-${id}`, { action: 'send', channel: { $ref: `#/channels/${id}` } }]),
    ),
  }
}

const texts = (id: string): Shape => ({ id, address: 'x', server: 's', payload: TEXT })
const numbers = (id: string, payload: Json = NUMBER): Shape => ({ id, address: 'x', server: 'u', payload })
const open = (id: string, payload: Json = TEXT): Shape => ({ id, address: null, payload })

/** What the level is in both directions. */
const ROWS: readonly (readonly [what: string, one: Json, other: Json, forth: Worst, back: Worst])[] = [
  ['the second id', application(texts('c'), numbers('d')), application(texts('c'), numbers('q')), 'none', 'none'],
  ['the first id', application(texts('c'), numbers('d')), application(texts('b'), numbers('d')), 'none', 'none'],
  ['the order of ids', application(texts('c'), numbers('d')), application(texts('z'), numbers('d')), 'none', 'none'],
  ['both ids', application(texts('c'), numbers('d')), application(texts('f'), numbers('e')), 'none', 'none'],
  ['a channel before it', application(texts('c')), application(texts('c'), numbers('a')), 'info', 'breaking'],
  ['a channel behind it', application(texts('c')), application(texts('c'), numbers('d')), 'info', 'breaking'],
  [
    'an id and the payload',
    application(texts('c'), numbers('d')),
    application(texts('c'), numbers('q', { type: 'integer' })),
    'info',
    'breaking',
  ],
  ['the id of a channel without an address', application(open('c')), application(open('d')), 'none', 'none'],
  [
    'the id of one of two channels without an address',
    application(open('a'), open('b', NUMBER)),
    application(open('d'), open('b', NUMBER)),
    'none',
    'none',
  ],
  [
    'the id and payload of a channel without an address',
    application(open('c', NUMBER)),
    application(open('d', { type: 'integer' })),
    'info',
    'breaking',
  ],
]

const replying = (id: string): Json => ({
  ...application(texts('c')),
  channels: { c: { address: 'x', messages: { m: { payload: TEXT } } }, [id]: { address: null } },
  operations: {
    o: {
      action: 'receive',
      channel: { $ref: '#/channels/c' },
      reply: { channel: { $ref: `#/channels/${id}` }, address: { location: '$message.header#/r' } },
    },
  },
})

suite('a channel of AsyncAPI', () => {
  for (const [what, one, other, forth, back] of ROWS)
    test(`is known when these change: ${what}`, () => {
      assert.deepEqual([worstOf('asyncapi', one, other), worstOf('asyncapi', other, one)], [forth, back])
    })

  test('of a reply is known under another id', () => {
    assert.equal(worstOf('asyncapi', replying('q'), replying('r')), 'none')
  })
})
