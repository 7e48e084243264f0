/** AsyncAPI: both majors in one model, directions of the application, real documents, faults with their place. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { dump, load } from 'js-yaml'
import { compare } from '../../../engine/formats/compare.ts'
import { sniffArtifactType } from '../../../engine/formats/sniff.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import type { Problem } from '../../../engine/common/result.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { shuffledKeys } from '../../shuffle.ts'

const BASE = readFileSync(new URL('base.yaml', import.meta.url), 'utf8')
const CORPUS = new URL('../../../../shared/corpus/asyncapi/', import.meta.url)

function run(before: string, after: string): readonly FindingGroup[] {
  const result = compare({ id: 'api', type: 'asyncapi', before, after }, {}, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value.groups
}

function found(before: string, after: string): readonly string[] {
  return run(before, after).map(({ level, rule }) => `${level} ${rule}`)
}

function refused(text: string): Problem {
  const result = compare({ id: 'api', type: 'asyncapi', before: '', after: text }, {}, sha256Hex)
  assert.ok(!result.ok)
  return result.problem
}

/** The same application in either major. */
function applicationIn2(payload: string): string {
  return `asyncapi: 2.6.0
info: { title: t, version: 1.0.0 }
servers: { main: { url: 'mqtt://broker.example/v1', protocol: mqtt, security: [{ key: [] }] } }
channels:
  out: { subscribe: { message: { $ref: '#/components/messages/note' } } }
  in: { publish: { message: { oneOf: [{ $ref: '#/components/messages/note' }] } } }
components:
  messages: { note: { headers: { type: object }, payload: ${payload} } }
  securitySchemes: { key: { type: apiKey, in: user } }
`
}

function applicationIn3(payload: string): string {
  return `asyncapi: 3.0.0
info: { title: t, version: 1.0.0 }
servers: { main: { host: broker.example, pathname: /v1, protocol: mqtt, security: [{ $ref: '#/components/securitySchemes/key' }] } }
channels:
  outgoing: { address: out, messages: { note: { $ref: '#/components/messages/note' } } }
  incoming: { address: in, messages: { note: { $ref: '#/components/messages/note' } } }
operations:
  tell: { action: send, channel: { $ref: '#/channels/outgoing' } }
  hear: { action: receive, channel: { $ref: '#/channels/incoming' }, messages: [{ $ref: '#/channels/incoming/messages/note' }] }
components:
  messages: { note: { headers: { type: object }, payload: ${payload} } }
  securitySchemes: { key: { type: apiKey, in: user } }
`
}

const WIDE = '{ type: object, properties: { a: { type: string, enum: [x, y] } } }'
const NARROW = '{ type: object, properties: { a: { type: string, enum: [x] } } }'

suite('directions are of the application', () => {
  for (const [major, write] of [
    ['2.x', applicationIn2],
    ['3.x', applicationIn3],
  ] as const) {
    test(`what it receives may not narrow, what it sends may not widen, in ${major}`, () => {
      assert.deepEqual(found(write(WIDE), write(NARROW)), [
        'breaking received-message-property-enum-value-removed',
        'info sent-message-property-enum-value-removed',
      ])
      assert.deepEqual(found(write(NARROW), write(WIDE)), [
        'dangerous sent-message-property-enum-value-added',
        'info received-message-property-enum-value-added',
      ])
    })
  }

  test('the same application in 2.x and 3.x is the same, and differences between them are found by address', () => {
    assert.deepEqual(found(applicationIn2(WIDE), applicationIn3(WIDE)), ['info asyncapi-version-changed'])
    const groups = run(applicationIn2(WIDE), applicationIn3(NARROW))
    const group = groups.find(({ level }) => level === 'breaking')
    assert.equal(group?.rule, 'received-message-property-enum-value-removed')
    assert.match(group?.occurrences[0]?.message ?? '', /\(receive in, message note\)$/)
  })

  test('a reply goes the other way', () => {
    const after = BASE.replace(
      'off: { payload: { type: object } }',
      'off: { payload: { type: object, required: [a] } }',
    )
    const messages = run(BASE, after).flatMap(({ occurrences }) => occurrences.map(({ message }) => message))
    assert.ok(messages.some((message) => /reply to receive commands, message off/.test(message)))
  })

  test('a message that takes another name is the same where it is the only one', () => {
    const renamed = applicationIn2(WIDE).replaceAll('note', 'memo')
    assert.deepEqual(found(applicationIn2(WIDE), renamed), [])
  })
})

function withTraits(qos: number, type: string): string {
  return `asyncapi: 2.6.0
channels:
  out: { subscribe: { traits: [{ bindings: { mqtt: { qos: ${qos} } } }], message: { traits: [{ headers: { properties: { a: { type: ${type} } } } }] } } }
`
}

suite('headers and traits', () => {
  test('headers are judged as the payload is', () => {
    const after = applicationIn2(WIDE).replace('headers: { type: object }', 'headers: { type: object, required: [id] }')
    assert.deepEqual(found(applicationIn2(WIDE), after), [
      'breaking received-header-property-became-required',
      'info sent-header-property-became-required',
    ])
  })

  test('traits speak where an operation or message does not', () => {
    assert.deepEqual(found(withTraits(1, 'string'), withTraits(2, 'integer')), [
      'breaking sent-header-property-type-changed',
      'dangerous asyncapi-binding-delivery-changed',
    ])
  })
})

/** A message and two traits that say parts of the same headers and bindings. */
function merged(major: 2 | 3, own: string, first: string, second: string): string {
  const message = `{ name: m, headers: { type: object, properties: { ${own} } }, traits: [{ $ref: '#/components/messageTraits/first' }, { headers: { properties: { ${second} } }, bindings: { kafka: { partitions: 3 } } }] }`
  const components = `components: { messageTraits: { first: { headers: { properties: { ${first} } }, bindings: { kafka: { replicas: 2 }, mqtt: { qos: 1 } } } } }`
  return major === 2
    ? `asyncapi: 2.6.0\ninfo: { title: t, version: '1' }\nchannels: { out: { publish: { message: ${message} } } }\n${components}\n`
    : `asyncapi: 3.0.0\ninfo: { title: t, version: '1' }\nchannels: { out: { address: out, messages: { m: ${message} } } }\noperations: { o: { action: receive, channel: { $ref: '#/channels/out' } } }\n${components}\n`
}

/** The headers of the message and of its first trait have the same members, all of which refer to the same two parts. */
function withShared(major: 2 | 3, names: readonly string[], type: string): string {
  const refer = (part: string): string =>
    names.map((name) => `${name}: { $ref: '#/components/schemas/${part}' }`).join(', ')
  const schemas = `schemas: { X: { properties: { q: { type: ${type} } } }, Y: { properties: { z: { type: string } } } }`
  return merged(major, refer('X'), refer('Y'), '').replace('components: {', `components: { ${schemas},`)
}

suite('traits are merged, part by part', () => {
  const TEXT = '{ type: string }'
  for (const major of [2, 3] as const) {
    const before = merged(major, `a: ${TEXT}`, `b: ${TEXT}`, `c: ${TEXT}`)
    for (const [what, after] of [
      ['the message', merged(major, 'a: { type: integer }', `b: ${TEXT}`, `c: ${TEXT}`)],
      ['the first trait', merged(major, `a: ${TEXT}`, 'b: { type: integer }', `c: ${TEXT}`)],
      ['the second trait', merged(major, `a: ${TEXT}`, `b: ${TEXT}`, 'c: { type: integer }')],
    ] as const) {
      test(`of headers, a change by ${what} in ${major}.x is reported at its place`, () => {
        const [group, ...others] = run(before, after)
        assert.equal(group?.rule, 'received-header-property-type-changed')
        assert.notEqual(group.line, null, group.location)
        assert.deepEqual(others, [])
      })
    }

    test(`of two members that refer to the same parts, both have all of them in ${major}.x`, () => {
      assert.deepEqual(found(withShared(major, ['a'], 'string'), withShared(major, ['b', 'a'], 'string')), [
        'info new-optional-received-header-property',
      ])
      const changed = run(withShared(major, ['b', 'a'], 'string'), withShared(major, ['b', 'a'], 'integer'))
      const messages = changed.flatMap(({ occurrences }) => occurrences.map(({ message }) => message))
      assert.deepEqual(
        messages.map((message) => /^the header `(.*)` had its type changed/.exec(message)?.[1]),
        ['a/q', 'b/q'],
      )
    })

    test(`of bindings, each protocol has what any of them says in ${major}.x`, () => {
      for (const [from, to, rule] of [
        ['replicas: 2', 'replicas: 1', 'info asyncapi-binding-upkeep-changed'],
        ['partitions: 3', 'partitions: 1', 'dangerous asyncapi-binding-delivery-changed'],
        ['qos: 1', 'qos: 2', 'dangerous asyncapi-binding-delivery-changed'],
      ] as const) {
        assert.deepEqual(found(before, before.replace(from, to)), [rule])
      }
    })
  }

  test('in 2.x a trait overrides the message, and the later trait the earlier one; in 3.x the message stands', () => {
    const [text, number] = [`x: ${TEXT}`, 'x: { type: integer }']
    assert.deepEqual(found(merged(2, text, text, text), merged(2, number, text, text)), [])
    assert.deepEqual(found(merged(2, text, text, text), merged(2, text, number, text)), [])
    assert.equal(found(merged(2, text, text, text), merged(2, text, text, number)).length, 1)
    assert.equal(found(merged(3, text, text, text), merged(3, number, text, text)).length, 1)
    assert.deepEqual(found(merged(3, text, text, text), merged(3, text, number, number)), [])
  })
})

function onServers(names: string): string {
  return applicationIn2(WIDE).replace('out: {', `out: { ${names}`)
}

function withSpare(text: string): string {
  return text.replace('servers: {', 'servers: { spare: { url: spare, protocol: mqtt },')
}

suite('servers of channels', () => {
  const [all, main] = [onServers(''), onServers('servers: [main],')]
  test('an application that names no server is on all of them', () => {
    assert.deepEqual(found(all, main), [])
    assert.deepEqual(found(withSpare(all), withSpare(main)), ['breaking asyncapi-channel-server-removed'])
    assert.deepEqual(found(withSpare(main), withSpare(all)), ['info asyncapi-channel-server-added'])
  })
  test('a removed server is reported once', () => {
    assert.deepEqual(found(withSpare(all), main), ['breaking asyncapi-server-removed'])
  })
})

suite('an empty side', () => {
  test('is an application that neither sends nor receives', () => {
    assert.ok(found(BASE, '').includes('breaking asyncapi-channel-removed'))
    assert.ok(found('', BASE).every((text) => text.startsWith('info ')))
  })
})

suite('what is refused', () => {
  for (const [what, text, says] of [
    ['no version', '{"asyncapi":"1.2.0"}', /version 2.x or 3.x/],
    ['2.x without channels', 'asyncapi: 2.0.0\ninfo: {}\n', /has no channels/],
    ['channels that are a list', 'asyncapi: 2.0.0\nchannels: [a]\n', /channels is not an object/],
    ['a channel that is a text', 'asyncapi: 2.0.0\nchannels: {a: b}\n', /an item of channels is not an object/],
    ['an unknown action', BASE.replace('action: send', 'action: shout'), /neither send nor receive/],
    [
      'an operation without a channel',
      BASE.replace("'#/channels/commands'", "'#/channels/none'"),
      /channel of an operation is none/,
    ],
  ] as const) {
    test(`${what}, with its place`, () => {
      const problem = refused(text)
      assert.equal(problem.code, 'ARTIFACT_UNREADABLE')
      assert.match(problem.message, /^The head document cannot be read as AsyncAPI: /)
      assert.match(problem.message, says)
      assert.ok((problem.line ?? 0) > 0)
    })
  }

  test('another kind of contract, by its name, and text that is not a document, with line and column', () => {
    assert.equal(refused('openapi: 3.0.3\npaths: {}\n').code, 'ARTIFACT_TYPE_MISMATCH')
    const problem = refused('{"asyncapi":\n "2.0.0",}')
    assert.deepEqual([problem.line, problem.column], [2, 10])
  })
})

test('the type is recognised by the content', () => {
  assert.deepEqual(sniffArtifactType(BASE, JSON.stringify(load(BASE))), { ok: true, value: 'asyncapi' })
})

test('the order of members means nothing', () => {
  const after = BASE.replace('qos: 1', 'qos: 2').replace('[a, b]', '[a]').replace('broker.example', 'other.example')
  const want = run(BASE, after).map(({ id, message }) => ({ id, message }))
  assert.equal(want.length, 3)
  for (let seed = 1; seed < 9; seed += 1) {
    const [base, head] = [dump(shuffledKeys(load(BASE), seed)), dump(shuffledKeys(load(after), seed + 20))]
    assert.deepEqual(
      run(base, head).map(({ id, message }) => ({ id, message })),
      want,
    )
  }
})

const ADDRESSED = (address: string, parameter: string): string => `asyncapi: 3.0.0
info: { title: t, version: '1' }
channels: { user: { address: '${address}', parameters: { ${parameter}: { enum: [a, b] } }, messages: { on: { payload: { type: object } } } } }
operations: { one: { action: send, channel: { $ref: '#/channels/user' } } }`

/** In 2.6 by a binding, in 3.0 in the message. */
function withHeaders(version: string, message: string, headers: string): string {
  const channels = `{ user: { subscribe: { message: ${message} } } }`
  const operations = `channels: { user: { address: user, messages: { on: ${message} } } }
operations: { one: { action: send, channel: { $ref: '#/channels/user' } } }`
  const body = version.startsWith('2') ? `channels: ${channels}` : operations
  return `asyncapi: ${version}\ninfo: { title: t, version: '1' }\n${body}`.replaceAll('HEADERS', headers)
}

suite('what is written in another place', () => {
  test('a renamed parameter of an address is no other channel', () => {
    const before = ADDRESSED('user/{id}', 'id')
    assert.deepEqual(found(before, ADDRESSED('user/{userId}', 'userId')), [])
    assert.deepEqual(found(before, ADDRESSED('users/{id}', 'id')).includes('breaking asyncapi-channel-removed'), true)
  })

  const inBinding = '{ payload: { type: object }, bindings: { http: { bindingVersion: 0.3.0, headers: HEADERS } } }'
  const inMessage = '{ payload: { type: object }, headers: HEADERS }'
  const text = '{ type: object, properties: { a: { type: string } } }'
  for (const [from, to] of [
    ['2.6.0', '3.0.0'],
    ['3.0.0', '3.0.0'],
    ['2.6.0', '2.6.0'],
  ] as const) {
    test(`headers that move from a binding of ${from} to the message of ${to} are the same headers`, () => {
      const reported = (head: string): readonly string[] =>
        found(withHeaders(from, inBinding, text), withHeaders(to, inMessage, head)).filter(
          (finding) => finding !== 'info asyncapi-version-changed',
        )
      assert.deepEqual(reported(text), [])
      assert.deepEqual(reported(text.replace('string', 'integer')), ['breaking sent-header-property-type-changed'])
    })
  }
})

/** What the reference calls breaking beside the version of the language and of the document, which break nobody on the wire. */
const REAL: Readonly<Record<string, readonly string[]>> = {
  'asyncdiff-v2': ['breaking asyncapi-channel-removed', 'breaking asyncapi-receiving-removed'],
  'asyncdiff-v3': [
    // The parameter of the address is called otherwise, which the wire does not show.
    'breaking asyncapi-server-address-changed',
    'dangerous asyncapi-server-protocol-version-changed',
  ],
  'gitter-streaming-3.0-3.1': [],
  'rpc-server-2.6-3.0': ['dangerous asyncapi-binding-changed'],
  'slack-rtm-v2.3.0-v2.6.0': [],
  'streetlights-2.0-2.6': ['dangerous asyncapi-binding-changed'],
  'streetlights-kafka-2.6-3.0': [],
  'streetlights-kafka-v2.2.0-v2.4.0': ['dangerous asyncapi-binding-delivery-changed'],
}

suite('real documents', () => {
  for (const [name, want] of Object.entries(REAL)) {
    test(`${name} is judged as its changes are`, (t) => {
      const folder = new URL(`${name}/`, CORPUS)
      if (!existsSync(folder)) return t.skip('the corpus of real contracts is not there')
      const [before, after] = ['before', 'after'].map((side) => readFileSync(new URL(`${side}.yml`, folder), 'utf8'))
      const reported = found(before ?? '', after ?? '').filter((text) => !text.startsWith('info '))
      assert.deepEqual([...new Set(reported)], want)
      assert.deepEqual(found(before ?? '', before ?? ''), [])
    })
  }
})
