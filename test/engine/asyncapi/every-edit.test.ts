/**
 * Every single edit of an AsyncAPI application. Two things are a proof: what others could do by the base and the head refuses, and
 * a message of the head that the base rules out. A breaking or dangerous change must then be reported. A list in another order
 * changes nothing. Every edit runs with SHARE=1.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRecord, type JsonRecord } from '../../../engine/schema/located.ts'
import { Contract, members, records, textOf, textsOf } from '../diff/wire-contract.ts'
import { checkEdits, foundBetween } from '../edit-run.ts'
import { everyEdit } from '../edits.ts'

const TEXT = { type: 'string', enum: ['x', 'y'] }
const WHOLE = { type: 'integer', minimum: 7, maximum: 8 }
const OBJECT = { type: 'object', required: ['a'], properties: { a: TEXT, b: WHOLE }, additionalProperties: false }
const HEADERS = { type: 'object', properties: { b: WHOLE } }
const ref = (path: string): JsonRecord => ({ $ref: `#/${path}` })

const BASE = {
  asyncapi: '3.0.0',
  info: { title: 'Things', version: '1.0.0' },
  defaultContentType: 'application/json',
  servers: {
    main: {
      host: '{region}.example:{port}',
      protocol: 'kafka',
      protocolVersion: '3.2',
      pathname: '/v1',
      variables: { region: { enum: ['eu', 'us'], default: 'eu' }, port: { default: '9092' } },
      security: [ref('components/securitySchemes/login'), ref('components/securitySchemes/oauth')],
      bindings: { kafka: { schemaRegistryUrl: 'https://r.example' } },
    },
    other: { host: 'b.example', protocol: 'amqp' },
  },
  channels: {
    events: {
      address: 'events/{id}',
      parameters: { id: { enum: ['a', 'b'], default: 'a', location: '$message.payload#/a' } },
      servers: [ref('servers/main'), ref('servers/other')],
      bindings: { kafka: { topic: 't', partitions: 3 } },
      messages: { made: ref('components/messages/made'), gone: { payload: WHOLE } },
    },
    commands: {
      address: 'commands',
      messages: {
        stop: { contentType: 'application/json', headers: HEADERS, payload: OBJECT },
        note: { contentType: 'text/plain', payload: TEXT, correlationId: { location: '$message.header#/b' } },
      },
    },
    replies: { address: 'replies', messages: { done: { payload: OBJECT }, failed: { payload: TEXT } } },
  },
  operations: {
    tell: {
      action: 'send',
      channel: ref('channels/events'),
      messages: [ref('channels/events/messages/made'), ref('channels/events/messages/gone')],
      traits: [ref('components/operationTraits/group')],
      bindings: { kafka: { groupId: TEXT } },
    },
    obey: {
      action: 'receive',
      channel: ref('channels/commands'),
      security: [ref('components/securitySchemes/login')],
      reply: {
        address: { location: '$message.header#/replyTo' },
        channel: ref('channels/replies'),
        messages: [ref('channels/replies/messages/done'), ref('channels/replies/messages/failed')],
      },
    },
  },
  components: {
    messages: {
      made: {
        name: 'made',
        headers: HEADERS,
        payload: { $ref: '#/components/schemas/Thing' },
        traits: [ref('components/messageTraits/json')],
        bindings: { kafka: { key: TEXT } },
      },
    },
    schemas: { Thing: OBJECT },
    messageTraits: { json: { contentType: 'application/json', correlationId: ref('components/correlationIds/id') } },
    operationTraits: { group: { bindings: { amqp: { ack: true } } } },
    correlationIds: { id: { location: '$message.header#/b' } },
    securitySchemes: {
      login: { type: 'userPassword' },
      oauth: {
        type: 'oauth2',
        flows: { clientCredentials: { tokenUrl: 'https://id.example/t', availableScopes: { read: '', write: '' } } },
        scopes: ['read'],
      },
    },
  },
}

interface Message {
  readonly contentType: string
  readonly payload: unknown
  readonly headers: unknown
}

interface Operation {
  readonly key: string
  readonly isSent: boolean
  readonly addresses: readonly string[]
  readonly servers: readonly string[]
  readonly security: readonly string[]
  readonly messages: readonly Message[]
  readonly reply: { readonly address: string; readonly messages: readonly Message[] } | null
  readonly contract: Contract
}

/** Texts in which each name in braces has each of its values. Without listed values it has its default, or any. */
function filled(text: string, variables: unknown): readonly string[] {
  let all = [text]
  for (const [name, variable] of members(variables)) {
    const stated = isRecord(variable) ? variable : {}
    const values = Array.isArray(stated['enum']) ? textsOf(stated['enum']) : [textOf(stated['default'], '*'), '*']
    all = all.flatMap((one) => values.map((value) => one.replaceAll(`{${name}}`, value)))
  }
  return all
}

/** Whether a text is one of several, of which `*` stands for any part. */
function isAmong(text: string, others: readonly string[]): boolean {
  return others.some((other) => {
    const [start = '', ...rest] = other.split('*')
    return text === other || (rest.length > 0 && text.startsWith(start) && text.endsWith(rest.at(-1) ?? ''))
  })
}

function serverTexts({ protocol, host, pathname, variables }: JsonRecord): readonly string[] {
  return filled(`${textOf(protocol, '')}://${textOf(host, '')}${textOf(pathname, '')}`, variables)
}

function operationsOf(contract: Contract): readonly Operation[] {
  const { root } = contract
  const message = (value: unknown): Message => {
    const stated = contract.at(value)
    const traits = records(stated['traits']).map((one) => contract.at(one))
    // A trait gives what the message does not say.
    const read = (member: string): unknown =>
      stated[member] ?? traits.find((one) => one[member] !== undefined)?.[member]
    const contentType = textOf(read('contentType'), textOf(root['defaultContentType'], 'application/json'))
    return { contentType, payload: read('payload'), headers: read('headers') }
  }
  const messagesOf = (owner: JsonRecord, channel: JsonRecord): readonly Message[] =>
    Array.isArray(owner['messages'])
      ? records(owner['messages']).map((one) => message(contract.at(one)))
      : members(channel['messages']).map(([, one]) => message(one))
  return members(root['operations']).flatMap(([, value]) => {
    const operation = contract.at(value)
    const channel = contract.at(operation['channel'])
    const action = textOf(operation['action'], '')
    const address = textOf(channel['address'], '')
    if ((action !== 'send' && action !== 'receive') || address === '') return []
    const servers = Array.isArray(channel['servers'])
      ? records(channel['servers'])
      : members(root['servers']).map(([, one]) => (isRecord(one) ? one : {}))
    const reply = isRecord(operation['reply']) ? operation['reply'] : null
    const place = contract.at(reply?.['channel'])
    return {
      key: `${action} ${address.replaceAll(/\{\w+\}/g, '{}')}`,
      isSent: action === 'send',
      addresses: filled(address, channel['parameters']),
      servers: servers.flatMap((one) => serverTexts(contract.at(one))),
      security: records(operation['security']).map((one) => JSON.stringify(contract.at(one))),
      messages: messagesOf(operation, channel),
      reply:
        reply === null
          ? null
          : {
              address: `${textOf(contract.at(reply['address'])['location'], '')} ${textOf(place['address'], '')}`,
              messages: messagesOf(reply, place),
            },
      contract,
    }
  })
}

/** Whether a value has described names only. Others do not send more, though an open schema admits it. */
function isDescribed(value: unknown, schema: unknown, part: 'payload' | 'headers'): boolean {
  const properties = isRecord(schema) ? schema['properties'] : null
  if (!isRecord(value)) return part === 'payload'
  return !isRecord(properties) || Object.keys(value).every((name) => Object.hasOwn(properties, name))
}

function admits(contract: Contract, schema: unknown, value: unknown): boolean {
  return contract.admitted(schema)?.includes(value) !== false
}

/** A message that is sent and not read; null: there is none. */
function unread(
  sent: readonly Message[],
  read: readonly Message[],
  [from, to]: readonly [Contract, Contract],
): string | null {
  for (const { contentType, payload, headers } of sent) {
    const readers = read.filter((one) => one.contentType === contentType)
    for (const [part, schema] of [
      ['payload', payload],
      ['headers', headers],
    ] as const)
      for (const value of from.admitted(schema) ?? [])
        if (isDescribed(value, schema, part) && !readers.some((one) => admits(to, one[part], value)))
          return `${contentType} ${part} ${JSON.stringify(value)}`
  }
  return null
}

/** What the base promised and the head does not keep; null: nothing is proved. */
function proofOf(base: Contract, head: Contract): string | null {
  const after = new Map(operationsOf(head).map((one) => [one.key, one]))
  for (const one of operationsOf(base)) {
    const other = after.get(one.key)
    if (other === undefined) return `${one.key} is gone`
    const lost =
      one.servers.find((server) => !isAmong(server, other.servers)) ??
      one.addresses.find((address) => !isAmong(address, other.addresses))
    if (lost !== undefined) return `${one.key}: not at ${lost}`
    const isRefused = other.security.length > 0 && !other.security.some((needed) => one.security.includes(needed))
    if (isRefused) return `${one.key}: needs ${other.security[0] ?? ''}`
    const contracts = [one.contract, other.contract] as const
    const back = [other.contract, one.contract] as const
    const why = one.isSent
      ? unread(other.messages, one.messages, back)
      : unread(one.messages, other.messages, contracts)
    if (why !== null) return `${one.key}: ${why}`
    if (one.reply === null) continue
    if (other.reply === null) return `${one.key} is no longer replied to`
    if (other.reply.address !== one.reply.address) return `${one.key} is replied to at ${other.reply.address}`
    const reply = one.isSent
      ? unread(one.reply.messages, other.reply.messages, contracts)
      : unread(other.reply.messages, one.reply.messages, back)
    if (reply !== null) return `${one.key} is replied to with ${reply}`
  }
  return null
}

/** Members of AsyncAPI 3.0 with a meaning for others. Schemas have tests of their own, and bindings rows for each protocol. */
const MEMBERS = `defaultContentType servers channels operations host protocol protocolVersion pathname variables enum default
  security bindings address parameters location messages contentType headers payload correlationId traits action channel reply
  type flows tokenUrl availableScopes scopes`

test('every member of AsyncAPI is edited', () => {
  const edited = new Set([...everyEdit(BASE)].flatMap(({ what }) => what.split('/')))
  assert.deepEqual(
    MEMBERS.split(/\s+/).filter((name) => !edited.has(name)),
    [],
  )
})

test('an edit that breaks others is not information', (t) => {
  const base = new Contract(BASE)
  assert.equal(proofOf(base, new Contract(structuredClone(BASE))), null)
  checkEdits(t, {
    type: 'asyncapi',
    base: BASE,
    edits: everyEdit(BASE),
    share: 4,
    proofOf: (document) => proofOf(base, new Contract(document)),
  })
})

test('another order of lists is no change', () => {
  for (const { what, document } of everyEdit(BASE))
    if (what.startsWith('moved')) assert.deepEqual(foundBetween('asyncapi', BASE, document), [], what)
})
