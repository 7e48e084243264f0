/**
 * Compares two texts of an AsyncAPI document into finding groups. Channels and operations are matched by address, so
 * that 2.x and 3.x compare.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { FormatOptions, FormatComparison } from '../../model/format.ts'
import {
  readAsyncApi,
  type AsyncApi,
  type AsyncChannel,
  type AsyncOperation,
  type AsyncOperationPart,
  type AsyncReply,
} from '../../contracts/asyncapi/contract.ts'
import { countedMessages, type AsyncMessage } from '../../contracts/asyncapi/messages.ts'
import { NO_FILES, OpenApiDocuments } from '../../contracts/documents.ts'
import { danglingReferences, sortedReferences, unresolvedIn } from '../../contracts/unresolved.ts'
import type { Sha256 } from '../../common/hash.ts'
import { ok, type Result } from '../../common/result.ts'
import { ASYNCAPI_RULES, type AsyncApiRuleId } from '../../rules/asyncapi/rows.ts'
import { Report } from '../../rules/judging/report.ts'
import { judgeById } from '../../rules/row.ts'
import { SchemaComparison } from '../../schema/comparison/comparison.ts'
import { Pairs } from '../../schema/inclusion/pair-map.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, memberOf, recordOf, ROOT, stepInto, type JsonRecord } from '../../schema/located.ts'
import { contractWalk } from '../contract-walk.ts'
import { compareMalformed } from '../malformed-parts.ts'
import { matchByKey, keysOfBoth } from '../match.ts'
import { walkOptionsOf } from '../options.ts'
import { readSides, infoVersion } from '../sides.ts'
import { parameterNames, withBaseAddresses } from './addresses.ts'
import { compareBindings } from './bindings.ts'
import { compareMessages, isSameMessage } from './messages.ts'
import { compareChannelServers, matchServers } from './server-places.ts'
import { compareAsyncSecurity } from './security.ts'
import { compareServers } from './servers.ts'
import { followed, memberIn, walkInto, type AsyncWalk } from './walk.ts'

/** Compares two documents of any version 2.x or 3.x; an empty side is an application that neither sends nor receives. */
export function compareAsyncApis(
  before: string,
  after: string,
  options: FormatOptions,
  sha256: Sha256,
): Result<FormatComparison> {
  const lifecycle = walkOptionsOf(options)
  if (!lifecycle.ok) return lifecycle
  const sides = readSides(before, after, (text, side) => readAsyncApi(text, side, options))
  if (!sides.ok) return sides
  const base = sides.value.base ?? nothing()
  const head = withBaseAddresses(base, sides.value.head ?? nothing())
  const locate = { base: base.locate, head: head.locate }
  const judge = judgeById<AsyncApiRuleId>(ASYNCAPI_RULES)
  const report = new Report({ ...judge, levels: options.levels, sha256, locate })
  const walk: AsyncWalk = {
    ...contractWalk(report, lifecycle.value),
    base,
    head,
    servers: matchServers({ base, head }),
    schemas: new SchemaComparison({ before: base.documents, after: head.documents }),
    uses: [],
  }
  compareDocuments(walk)
  walk.schemas.complete()
  for (const use of walk.uses) walk.addSchemas(use, walk.schemas)
  reportDanglingReferences(walk)
  compareMalformed(base.malformed, head.malformed, ({ place, ...change }) =>
    walk.add({ ...change, rule: 'asyncapi-part-malformed', subject: place, name: place }),
  )
  return ok({
    groups: report.finish(),
    stats: {
      operations: { base: base.operations.size, head: head.operations.size },
      schemas_compared: walk.schemas.examined,
      touched: report.touched,
    },
    spec_versions: { base: sides.value.base?.version ?? null, head: sides.value.head?.version ?? null },
    contract_versions: { base: infoVersion(base.documents.root), head: infoVersion(head.documents.root) },
    unresolved: sortedReferences([
      ...unresolvedIn('base', danglingReferences(base.documents)),
      ...unresolvedIn('head', danglingReferences(head.documents)),
    ]),
  })
}

function nothing(): AsyncApi {
  const documents = new OpenApiDocuments({}, 'json-schema-draft-7', NO_FILES)
  const none = { channels: new Map(), operations: new Map(), servers: new Map(), malformed: new Map() }
  return { version: '', documents, ...none, locate: () => null }
}

function compareDocuments(walk: AsyncWalk): void {
  const { base, head } = walk
  if (base.version !== '' && head.version !== '' && base.version !== head.version) {
    const located = { value: head.version, at: stepInto(ROOT, 'asyncapi'), document: '' }
    const change = { subject: 'asyncapi', before: base.version, after: head.version }
    walk.add({ ...change, rule: 'asyncapi-version-changed', side: 'head', located })
  }
  compareChannels(walk)
  for (const key of keysOfBoth(base.operations.keys(), head.operations.keys())) {
    compareAsyncOperation(walk, base.operations.get(key), head.operations.get(key))
  }
  compareServers(walk)
}

function compareChannels(walk: AsyncWalk): void {
  const { base, head } = walk
  const isUnused = { base: isUnusedIn(base), head: isUnusedIn(head) }
  for (const address of keysOfBoth(base.channels.keys(), head.channels.keys())) {
    const [before, after] = [base.channels.get(address), head.channels.get(address)]
    const shared = { subject: address, name: address, endpoint: address }
    if (before !== undefined && after !== undefined) {
      const channel = walkInto(walk, { where: `channel ${address}`, endpoint: address })
      compareChannelParameters(channel, before, after)
      compareChannelBindings(channel, before, after)
      compareChannelServers(channel, before, after)
      compareUnusedMessages(channel, before, after, isUnused)
    } else if (before !== undefined) {
      walk.add({ ...shared, rule: 'asyncapi-channel-removed', side: 'base', located: before.located, before: address })
    } else if (after !== undefined) {
      walk.add({ ...shared, rule: 'asyncapi-channel-added', side: 'head', located: after.located, after: address })
    }
  }
}

const ACTIONS = ['receive', 'send'] as const

/** Messages of a channel that no operation uses: other applications may send or receive them. */
function compareUnusedMessages(
  walk: AsyncWalk,
  before: AsyncChannel,
  after: AsyncChannel,
  isUnused: Readonly<Record<'base' | 'head', IsUnused>>,
): void {
  // The head is held under the addresses of the base.
  const { address } = before
  const base = before.messages.filter(isUnused.base)
  const [names, known] = [base, before.messages].map((messages) => new Set(messages.map(({ name }) => name)))
  // What an operation of one side uses is reported with that operation.
  const head = after.messages.filter(
    (message) => names?.has(message.name) === true || (isUnused.head(message) && known?.has(message.name) !== true),
  )
  const used = ACTIONS.map((action) => walk.head.operations.has(`${action} ${address}`))
  for (const [index, action] of ACTIONS.entries()) {
    if (used[index] !== true && used.includes(true)) continue
    compareMessages(walk, { action, where: `channel ${address}` }, countedMessages([base]), countedMessages([head]))
  }
}

type IsUnused = (message: AsyncMessage) => boolean

function isUnusedIn({ operations }: AsyncApi): IsUnused {
  const replies = new Set(
    [...operations.values()].flatMap(({ parts }) => parts.map(({ reply }) => reply?.messages ?? [])),
  )
  const used = new Set<unknown>()
  for (const messages of [...[...operations.values()].map(({ messages }) => messages.keys()), ...replies])
    for (const { located } of messages) used.add(located.value)
  return ({ located }) => !used.has(located.value)
}

/** Clients that connect to a channel supply what its bindings require. */
function compareChannelBindings(walk: AsyncWalk, before: AsyncChannel, after: AsyncChannel): void {
  const { address, stated } = after
  const of = `channel ${address}`
  const pair = { before: before.bindings, after: after.bindings, of, action: 'receive', endpoint: address } as const
  compareBindings(walk, { ...pair, ...(stated !== null && { address: stated }) })
}

/** The values that a parameter may have. AsyncAPI 2.x uses a schema, 3.x uses members of the parameter. */
function compareChannelParameters(walk: AsyncWalk, base: AsyncChannel, head: AsyncChannel): void {
  const { address, parameters } = head
  const baseDefinitions = parameterDefinitions(base, walk.base)
  const headDefinitions = parameterDefinitions(head, walk.head)
  const baseNames = parameterNames(base.address)
  const isOfSchemas = [walk.base, walk.head].every(hasParameterSchemas)
  for (const [index, name] of parameterNames(address).entries()) {
    const baseName = baseNames[index] ?? name
    // A document may rename a parameter in the address and leave its definition under the old name.
    const defined = Object.hasOwn(headDefinitions, name) ? name : baseName
    const located = (parameters === null ? null : memberOf(parameters, defined)) ?? head.located
    const place = { subject: `${address} parameter ${name}`, name, side: 'head', located } as const
    // A client that fills in the old address by name now fills in a different parameter.
    if (baseName !== name && baseNames.includes(name)) {
      walk.add({ ...place, rule: 'asyncapi-parameter-moved', before: baseName, after: name })
    }
    const [definedBefore, definedAfter] = [baseDefinitions[baseName], headDefinitions[defined]]
    const [before, after] = [parameterOf(definedBefore, isOfSchemas), parameterOf(definedAfter, isOfSchemas)]
    if (isEqual(before, after)) continue
    const [values, remaining] = [allowedValuesOf(before), allowedValuesOf(after)]
    const isNarrowed = remaining !== null && (values === null || values.some((value) => !remaining.includes(value)))
    if (isNarrowed) {
      walk.add({ ...place, rule: 'asyncapi-parameter-narrowed', before: values, after: remaining })
    } else walk.add({ ...place, rule: 'asyncapi-parameter-changed', before, after })
  }
}

/** The listed values, or null for any text. */
function allowedValuesOf(parameter: unknown): readonly unknown[] | null {
  const values = isRecord(parameter) ? parameter['enum'] : undefined
  return Array.isArray(values) ? values : null
}

function parameterDefinitions({ parameters }: AsyncChannel, api: AsyncApi): JsonRecord {
  const names = isRecord(parameters?.value) ? Object.keys(parameters.value) : []
  return Object.fromEntries(
    names.map((name) => {
      const held = followed(memberIn(parameters, name), api)
      const schema = followed(memberIn(held, 'schema'), api)
      return [name, schema === null ? held?.value : { ...recordOf(held?.value), schema: schema.value }]
    }),
  )
}

/** AsyncAPI 2.x. AsyncAPI 3.x has a few members of the schemas only. */
function hasParameterSchemas({ version }: AsyncApi): boolean {
  return version.startsWith('2')
}

/**
 * A parameter without a schema takes any text.
 * @param isOfSchemas whether both sides can state all members of a schema
 */
function parameterOf(parameter: unknown, isOfSchemas: boolean): unknown {
  if (!isRecord(parameter)) return {}
  const { description: _, examples: _examples, schema, ...rest } = parameter
  const members = Object.entries({ ...(isRecord(schema) ? parameterConditions(schema, isOfSchemas) : {}), ...rest })
  return Object.fromEntries(members.map(([name, value]) => [name, name === 'enum' ? sortedValues(value) : value]))
}

/** The members of a text schema that restrict its values. */
function parameterConditions(schema: JsonRecord, isOfSchemas: boolean): JsonRecord {
  const { title: _title, description: _description, examples: _examples, ...rest } = schema
  const ofBoth: ReadonlySet<string> = new Set(['enum', 'default', '$ref'])
  if (!isOfSchemas) return Object.fromEntries(Object.entries(rest).filter(([name]) => ofBoth.has(name)))
  return Object.fromEntries(Object.entries(rest).filter(([name, value]) => name !== 'type' || value !== 'string'))
}

function sortedValues(values: unknown): unknown {
  if (!Array.isArray(values)) return values
  return values.filter((value) => typeof value === 'string').toSorted(byCodeUnit)
}

/** The presence rules of both directions. */
const PRESENCE = {
  send: { added: 'asyncapi-sending-added', removed: 'asyncapi-sending-removed' },
  receive: { added: 'asyncapi-receiving-added', removed: 'asyncapi-receiving-removed' },
} as const

function compareAsyncOperation(
  walk: AsyncWalk,
  before: AsyncOperation | undefined,
  after: AsyncOperation | undefined,
): void {
  const there = after ?? before
  if (there === undefined) return
  const { action, address, located } = there
  const where = `${action} ${address}`
  if (before === undefined || after === undefined) {
    const change = before === undefined ? 'added' : 'removed'
    const side = before === undefined ? 'head' : 'base'
    walk.add({ rule: PRESENCE[action][change], subject: address, name: address, side, located, endpoint: address })
    if (before === undefined && action === 'send') reportUnknownMessages(walk, there, where)
    return
  }
  const operation = walkInto(walk, { where, endpoint: where })
  compareMessages(operation, { action, where }, before.messages, after.messages)
  const replies = new Pairs<unknown, true>()
  for (const [base, head] of matchedParts(before.parts, after.parts)) {
    const bindings = { before: base.bindings, after: head.bindings, of: where, action, endpoint: where }
    compareBindings(operation, bindings)
    compareAsyncSecurity(operation, base, head, where)
    compareReply(operation, after, base, head)
    const [replied, replying] = [base.reply?.messages, head.reply?.messages]
    // Many operations may be answered with all messages of one channel.
    if (replied === undefined || replying === undefined || replies.get(replied, replying) === true) continue
    replies.set(replied, replying, true)
    compareReplyMessages(operation, after, replied, replying)
  }
}

/** A new operation sends to subscribers of the base, who do not know each of its messages. */
function reportUnknownMessages(walk: AsyncWalk, { action, address, messages }: AsyncOperation, where: string): void {
  const known = sentTo(walk, address)
  if (known.length === 0) return
  const unknown = [...messages].filter(([message]) => !known.some((one) => isSameMessage(walk, one, message)))
  compareMessages(walkInto(walk, { where, endpoint: where }), { action, where }, new Map(), new Map(unknown))
}

/** What subscribers of the base receive from the address of a channel of the head. Several channels may have one address. */
function sentTo({ base, head }: AsyncWalk, address: string): readonly AsyncMessage[] {
  const channel = head.channels.get(address)
  if (channel === undefined || channel.stated === null) return []
  return [...base.operations.values()].flatMap(({ action, address: other, messages }) => {
    const known = base.channels.get(other)
    const isThere = action === 'send' && known?.stated === channel.stated && shareServers(known, channel)
    return isThere ? [...messages.keys()] : []
  })
}

function shareServers({ servers: one }: AsyncChannel, { servers: other }: AsyncChannel): boolean {
  return one === null || other === null || [...one.keys()].some((name) => other.has(name))
}

type PartPair = readonly [AsyncOperationPart, AsyncOperationPart]

/**
 * Operations with the same action and address, matched by id and then in order. Added and removed operations are
 * reported by their messages.
 */
function matchedParts(base: readonly AsyncOperationPart[], head: readonly AsyncOperationPart[]): readonly PartPair[] {
  const { added, removed, kept } = matchByKey(base, head, ({ id }) => id)
  const paired = removed.flatMap((part, index): readonly PartPair[] => {
    const other = added[index]
    return other === undefined ? [] : [[part, other]]
  })
  return [...kept, ...paired]
}

/** A reply has the opposite direction. */
function compareReply(
  walk: AsyncWalk,
  operation: AsyncOperation,
  before: AsyncOperationPart,
  after: AsyncOperationPart,
): void {
  const where = replyPlace(operation)
  if (before.reply !== null && after.reply !== null) {
    compareReplyPlace(walkInto(walk, { where }), before.reply, after.reply, where)
  } else if (before.reply !== null) {
    walk.add({ rule: 'asyncapi-reply-removed', subject: where, side: 'base', located: before.reply.located })
  } else if (after.reply !== null) {
    const rule = operation.action === 'send' ? 'asyncapi-reply-expected' : 'asyncapi-reply-added'
    walk.add({ rule, subject: where, side: 'head', located: after.reply.located })
  }
}

function compareReplyMessages(
  walk: AsyncWalk,
  operation: AsyncOperation,
  before: readonly AsyncMessage[],
  after: readonly AsyncMessage[],
): void {
  const where = replyPlace(operation)
  const action = operation.action === 'send' ? 'receive' : 'send'
  const [base, head] = [countedMessages([before]), countedMessages([after])]
  compareMessages(walkInto(walk, { where }), { action, where }, base, head)
}

function replyPlace({ action, address }: AsyncOperation): string {
  return `reply to ${action} ${address}`
}

/** The reply address: a channel, or an expression on the request. */
function compareReplyPlace(walk: AsyncWalk, before: AsyncReply, after: AsyncReply, where: string): void {
  const place = { subject: where, side: 'head', located: after.located } as const
  if (before.channel !== null && before.channel !== after.channel) {
    walk.add({ ...place, rule: 'asyncapi-reply-channel-changed', before: before.channel, after: after.channel })
  }
  if (before.address === after.address) return
  const rule = before.address === null ? 'asyncapi-reply-address-added' : 'asyncapi-reply-address-changed'
  walk.add({ ...place, rule, before: before.address, after: after.address })
}

function reportDanglingReferences({ base, head, add }: AsyncWalk): void {
  const known = new Set(danglingReferences(base.documents).map(({ reference }) => reference))
  for (const { reference, holder } of danglingReferences(head.documents)) {
    if (known.has(reference)) continue
    const change = { subject: reference, side: 'head', located: holder, after: reference } as const
    add({ ...change, rule: 'asyncapi-reference-unresolved' })
  }
}
