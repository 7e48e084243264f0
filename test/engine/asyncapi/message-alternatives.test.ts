/** A payload of one of several schemas against several messages, and two channels against one: what is not the same is reported. */
import { checkElements, type ElementRow } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const T = { type: 'string' }
const kind = (name: string): Json => ({ type: 'object', required: ['kind'], properties: { kind: { const: name } } })
const [A, B, C] = ['a', 'b', 'c'].map(kind)
/** A value may be of both. */
const [LEFT, RIGHT] = ['l', 'r'].map((name) => ({ type: 'object', required: [name], properties: { [name]: T } }))

const channel = (payloads: Json, rest: Json = {}): Json => ({
  address: 'events',
  messages: Object.fromEntries(Object.entries(payloads).map(([name, payload]) => [name, { payload }])),
  ...rest,
})
const at = (server: string): Json => ({ servers: [{ $ref: `#/servers/${server}` }] })

type Levels = readonly [forth: ElementRow<Json>[3], back: ElementRow<Json>[3]]

const ROWS: readonly (readonly [what: string, one: Json, other: Json, send: Levels, receive: Levels])[] = [
  [
    'values of two alternatives, which exactly one refuses',
    { c: channel({ m: { oneOf: [LEFT, RIGHT] } }) },
    { c: channel({ l: LEFT, r: RIGHT }) },
    ['dangerous', 'dangerous'],
    ['breaking', 'breaking'],
  ],
  [
    'values of two alternatives, which any of them admits',
    { c: channel({ m: { anyOf: [LEFT, RIGHT] } }) },
    { c: channel({ l: LEFT, r: RIGHT }) },
    ['none', 'none'],
    ['none', 'none'],
  ],
  [
    'an alternative more',
    { c: channel({ m: { oneOf: [A, B, C] } }) },
    { c: channel({ a: A, b: B }) },
    ['dangerous', 'dangerous'],
    ['breaking', 'breaking'],
  ],
  [
    'another alternative',
    { c: channel({ m: { oneOf: [A, B] } }) },
    { c: channel({ a: A, c: C }) },
    ['dangerous', 'dangerous'],
    ['breaking', 'breaking'],
  ],
  [
    'a condition beside the alternatives',
    { c: channel({ m: { oneOf: [A, B], minProperties: 3 } }) },
    { c: channel({ a: A, b: B }) },
    ['dangerous', 'dangerous'],
    ['breaking', 'breaking'],
  ],
  [
    'headers of one of the messages',
    { c: channel({ m: { oneOf: [A, B] } }) },
    { c: { address: 'events', messages: { a: { payload: A }, b: { payload: B, headers: { required: ['h'] } } } } },
    ['dangerous', 'dangerous'],
    ['breaking', 'breaking'],
  ],
  [
    'channels of one address on two servers',
    { c: channel({ a: A }, at('s')), d: channel({ b: B }, at('u')) },
    { c: channel({ a: A, b: B }, at('s')) },
    ['breaking', 'dangerous'],
    ['breaking', 'breaking'],
  ],
  [
    'channels of one address with other bindings',
    { c: channel({ a: A }, { bindings: { kafka: { topic: 't' } } }), d: channel({ b: B }) },
    { c: channel({ a: A, b: B }, { bindings: { kafka: { topic: 't' } } }) },
    ['breaking', 'dangerous'],
    ['breaking', 'breaking'],
  ],
  [
    'one of two channels of one address with a message of its own',
    { c: channel({ a: A }), d: channel({ b: B }) },
    { c: channel({ a: A }) },
    ['dangerous', 'dangerous'],
    ['breaking', 'info'],
  ],
  [
    'two channels of one address, with other messages under one name',
    { c: channel({ m: A }), d: channel({ m: B }) },
    { c: channel({ m: A }) },
    ['breaking', 'dangerous'],
    ['breaking', 'info'],
  ],
  [
    'two channels of one address, with the same message and other bindings',
    { c: channel({ m: A }), d: channel({ m: A }, { bindings: { kafka: { topic: 't' } } }) },
    { c: channel({ m: A }) },
    ['breaking', 'info'],
    ['breaking', 'info'],
  ],
  [
    'two channels of one address on other servers, with other messages',
    { c: channel({ m: A }, at('s')), d: channel({ m: B }, at('u')) },
    { c: channel({ m: A }, at('s')) },
    ['breaking', 'info'],
    ['breaking', 'info'],
  ],
]

for (const action of ['send', 'receive'] as const) {
  const rows = ROWS.map(([what, one, other, sent, received]): ElementRow<Json> => {
    const [forth, back] = action === 'send' ? sent : received
    return [what, one, other, forth, back]
  })
  checkElements(`an application that ${action}s`, 'asyncapi', rows, (channels) => ({
    asyncapi: '3.0.0',
    info: { title: 't', version: '1' },
    servers: { s: { host: 's.example', protocol: 'mqtt' }, u: { host: 'u.example', protocol: 'mqtt' } },
    channels,
    operations: Object.fromEntries(
      Object.keys(channels).map((id) => [id, { action, channel: { $ref: `#/channels/${id}` } }]),
    ),
  }))
}
