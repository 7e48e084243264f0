/** Two texts of an AsyncAPI document → finding groups. Channels and operations are matched by address, so that 2.x and 3.x compare. */
import { byCodeUnit } from '../../change-set.ts'
import type { CompareOptions, FormatComparison } from '../../format.ts'
import {
  readAsyncApi,
  type AsyncApi,
  type AsyncChannel,
  type AsyncOperation,
  type AsyncOperationPart,
  type AsyncReply,
} from '../../contracts/asyncapi/contract.ts'
import { OpenApiDocuments } from '../../contracts/documents.ts'
import { danglingReferences, inOneOrder, unresolvedIn } from '../../contracts/unresolved.ts'
import type { Sha256 } from '../../hash.ts'
import { ok, type Result } from '../../result.ts'
import { ASYNCAPI_RULES } from '../../rules/asyncapi/rows.ts'
import { Grouping } from '../../rules/grouping.ts'
import { SchemaProofs } from '../../rules/schema-use.ts'
import { SchemaComparison } from '../../schema/comparison.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, memberOf, ROOT, stepInto, type JsonRecord, type Located } from '../../schema/located.ts'
import { ContractReport } from '../contract-report.ts'
import { matchByKey } from '../match.ts'
import { walkOptionsOf } from '../options.ts'
import { parameterNames, withBaseAddresses } from './addresses.ts'
import { compareBindings } from './bindings.ts'
import { compareMessages } from './messages.ts'
import { compareChannelServers } from './server-places.ts'
import { compareSecurity } from './security.ts'
import { compareServers } from './servers.ts'
import type { AsyncWalk, SayAsync } from './walk.ts'

/** Compares two documents of any version 2.x or 3.x; an empty side is an application that neither sends nor receives. */
export function compareAsyncApis(
  before: string,
  after: string,
  options: CompareOptions,
  sha256: Sha256,
): Result<FormatComparison> {
  const lifecycle = walkOptionsOf(options)
  if (!lifecycle.ok) return lifecycle
  const base = readAsyncApi(before, 'base', options)
  if (!base.ok) return base
  const head = readAsyncApi(after, 'head', options)
  if (!head.ok) return head
  const old = base.value ?? nothing()
  const now = withBaseAddresses(old, head.value ?? nothing())
  const grouping = new Grouping({ levels: options.levels, sha256, locate: { base: old.locate, head: now.locate } })
  const report = new ContractReport(ASYNCAPI_RULES, grouping, lifecycle.value)
  const walk: AsyncWalk = {
    base: old,
    head: now,
    report,
    schemas: new SchemaComparison({ before: old.documents, after: now.documents }),
    uses: [],
  }
  compareDocuments(walk)
  walk.schemas.settle()
  const proofs = new SchemaProofs(walk.schemas)
  for (const use of walk.uses) report.tellSchema(use, proofs)
  tellNewDangling(walk)
  return ok({
    groups: report.finish(),
    stats: {
      operations: { base: old.operations.size, head: now.operations.size },
      schemas_compared: walk.schemas.examined,
      touched: report.touched,
    },
    spec_versions: { base: base.value?.version ?? null, head: head.value?.version ?? null },
    contract_versions: { base: statedVersion(old), head: statedVersion(now) },
    unresolved: inOneOrder([
      ...unresolvedIn('base', danglingReferences(old.documents)),
      ...unresolvedIn('head', danglingReferences(now.documents)),
    ]),
  })
}

function statedVersion({ documents: { root } }: AsyncApi): string | null {
  const info = isRecord(root.value) ? root.value['info'] : null
  return isRecord(info) && typeof info['version'] === 'string' ? info['version'] : null
}

function nothing(): AsyncApi {
  const documents = new OpenApiDocuments({}, 'json-schema-draft-7', () => null)
  return { version: '', documents, channels: new Map(), operations: new Map(), servers: new Map(), locate: () => null }
}

function compareDocuments(walk: AsyncWalk): void {
  const { base, head, report } = walk
  const say: SayAsync = (change) => report.say(change)
  if (base.version !== '' && head.version !== '' && base.version !== head.version) {
    const located = { value: head.version, at: stepInto(ROOT, 'asyncapi'), document: '' }
    const change = { subject: 'asyncapi', before: base.version, after: head.version }
    say({ ...change, rule: 'asyncapi-version-changed', side: 'head', located })
  }
  compareChannels(walk, say)
  for (const key of keysOf(base.operations, head.operations)) {
    compareOperation(walk, base.operations.get(key), head.operations.get(key), say)
  }
  compareServers(walk, say)
}

function keysOf(old: ReadonlyMap<string, unknown>, now: ReadonlyMap<string, unknown>): readonly string[] {
  return [...new Set([...old.keys(), ...now.keys()])].sort(byCodeUnit)
}

function compareChannels(walk: AsyncWalk, say: SayAsync): void {
  const { base, head } = walk
  for (const address of keysOf(base.channels, head.channels)) {
    const [was, is] = [base.channels.get(address), head.channels.get(address)]
    const shared = { subject: address, name: address, endpoint: address }
    if (was !== undefined && is !== undefined) {
      const within: SayAsync = (change) => say({ ...change, where: `channel ${address}`, endpoint: address })
      compareParameters(was, is, within)
      compareChannelBindings(walk, was, is, within)
      compareChannelServers(walk, was, is, within)
      compareUnusedMessages(walk, was, is, within)
    } else if (was !== undefined) {
      say({ ...shared, rule: 'asyncapi-channel-removed', side: 'base', located: was.located, before: address })
    } else if (is !== undefined) {
      say({ ...shared, rule: 'asyncapi-channel-added', side: 'head', located: is.located, after: address })
    }
  }
}

const ACTIONS = ['receive', 'send'] as const

/** Messages of a channel that no operation of the base sends or receives: whoever uses it may do either. */
function compareUnusedMessages(walk: AsyncWalk, was: AsyncChannel, is: AsyncChannel, say: SayAsync): void {
  const { address } = is
  const isUsed = ({ operations }: AsyncApi): readonly boolean[] =>
    ACTIONS.map((action) => operations.has(`${action} ${address}`))
  if (isUsed(walk.base).includes(true) || isReplyChannel(walk.base, address)) return
  const used = isUsed(walk.head)
  for (const [index, action] of ACTIONS.entries()) {
    if (used[index] !== true && used.includes(true)) continue
    compareMessages(walk, action, `channel ${address}`, was.messages, is.messages, say)
  }
}

function isReplyChannel({ operations }: AsyncApi, address: string): boolean {
  return [...operations.values()].some(({ parts }) => parts.some(({ reply }) => reply?.channel === address))
}

/** What a channel asks for, those bring who connect to it. */
function compareChannelBindings(walk: AsyncWalk, was: AsyncChannel, is: AsyncChannel, say: SayAsync): void {
  const { address } = is
  const of = `channel ${address}`
  compareBindings(walk, { was: was.bindings, is: is.bindings, of, action: 'receive', endpoint: address }, say)
}

/** What values a parameter may have: 2.x says it in a schema, 3.x in members of the parameter. */
function compareParameters(was: AsyncChannel, is: AsyncChannel, say: SayAsync): void {
  const { address, parameters } = is
  const [left, right] = [recordAt(was.parameters), recordAt(parameters)]
  const [oldNames, nowNames] = [parameterNames(was.address), parameterNames(address)]
  for (const [index, name] of nowNames.entries()) {
    const old = oldNames[index] ?? name
    // A document may rename a parameter in its address and forget its definition.
    const defined = Object.hasOwn(right, name) ? name : old
    const located = (parameters === null ? null : memberOf(parameters, defined)) ?? is.located
    const place = { subject: `${address} parameter ${name}`, name, side: 'head', located } as const
    // Whoever fills them in by name, in the address that it knows, names something else now.
    if (old !== name && oldNames.includes(name)) {
      say({ ...place, rule: 'asyncapi-parameter-moved', before: old, after: name })
    }
    const isSchema = hasSchema(left[old]) && hasSchema(right[defined])
    const [before, after] = [parameterOf(left[old], isSchema), parameterOf(right[defined], isSchema)]
    if (isEqual(before, after)) continue
    const [values, remaining] = [valuesOf(before), valuesOf(after)]
    const isNarrowed = remaining !== null && (values === null || values.some((value) => !remaining.includes(value)))
    if (isNarrowed) {
      say({ ...place, rule: 'asyncapi-parameter-narrowed', before: values, after: remaining })
    } else say({ ...place, rule: 'asyncapi-parameter-changed', before, after })
  }
}

/** Null: any text. */
function valuesOf(parameter: unknown): readonly unknown[] | null {
  const values = isRecord(parameter) ? parameter['enum'] : undefined
  return Array.isArray(values) ? values : null
}

function recordAt(located: Located | null): JsonRecord {
  return isRecord(located?.value) ? located.value : {}
}

function hasSchema(parameter: unknown): boolean {
  return isRecord(parameter) && isRecord(parameter['schema'])
}

/** A parameter that is any text is the same whether it is said or not. What only a schema can say, 3.x has no place for. */
function parameterOf(parameter: unknown, isSchema: boolean): unknown {
  if (!isRecord(parameter)) return {}
  const { description: _, examples: _examples, schema, ...rest } = parameter
  const members = Object.entries({ ...(isRecord(schema) ? conditionsOf(schema, isSchema) : {}), ...rest })
  return Object.fromEntries(members.map(([name, value]) => [name, name === 'enum' ? sortedValues(value) : value]))
}

/** The members of a schema of a text that say which texts it may be. */
function conditionsOf(schema: JsonRecord, isSchema: boolean): JsonRecord {
  const { title: _title, description: _description, examples: _examples, ...rest } = schema
  const ofBoth: ReadonlySet<string> = new Set(['enum', 'default', '$ref'])
  if (!isSchema) return Object.fromEntries(Object.entries(rest).filter(([name]) => ofBoth.has(name)))
  return Object.fromEntries(Object.entries(rest).filter(([name, value]) => name !== 'type' || value !== 'string'))
}

function sortedValues(values: unknown): unknown {
  if (!Array.isArray(values)) return values
  return values.filter((value) => typeof value === 'string').toSorted(byCodeUnit)
}

/** How the two directions are told. */
const PRESENCE = {
  send: { added: 'asyncapi-sending-added', removed: 'asyncapi-sending-removed' },
  receive: { added: 'asyncapi-receiving-added', removed: 'asyncapi-receiving-removed' },
} as const

function compareOperation(
  walk: AsyncWalk,
  was: AsyncOperation | undefined,
  is: AsyncOperation | undefined,
  say: SayAsync,
): void {
  const there = is ?? was
  if (there === undefined) return
  const { action, address, located } = there
  if (was === undefined || is === undefined) {
    const change = was === undefined ? 'added' : 'removed'
    const side = was === undefined ? 'head' : 'base'
    say({ rule: PRESENCE[action][change], subject: address, name: address, side, located, endpoint: address })
    return
  }
  const where = `${action} ${address}`
  const within: SayAsync = (change) => say({ ...change, where, endpoint: where })
  compareMessages(walk, action, where, was.messages, is.messages, within)
  for (const [old, now] of matchedParts(was.parts, is.parts)) {
    compareBindings(walk, { was: old.bindings, is: now.bindings, of: where, action, endpoint: where }, within)
    compareSecurity(walk, old.security, now.security, { was: old.located, is: now.located }, where, within)
    compareReply(walk, is, old, now, within)
  }
}

type PartPair = readonly [AsyncOperationPart, AsyncOperationPart]

/** Operations of one action and address: by id, and what is left in its order. One that comes or goes is told by its messages. */
function matchedParts(old: readonly AsyncOperationPart[], now: readonly AsyncOperationPart[]): readonly PartPair[] {
  const { added, removed, kept } = matchByKey(old, now, ({ id }) => id)
  const left = removed.flatMap((part, index): readonly PartPair[] => {
    const other = added[index]
    return other === undefined ? [] : [[part, other]]
  })
  return [...kept, ...left]
}

/** A reply goes the other way. */
function compareReply(
  walk: AsyncWalk,
  operation: AsyncOperation,
  was: AsyncOperationPart,
  is: AsyncOperationPart,
  say: SayAsync,
): void {
  const where = `reply to ${operation.action} ${operation.address}`
  if (was.reply !== null && is.reply !== null) {
    const action = operation.action === 'send' ? 'receive' : 'send'
    const within: SayAsync = (change) => say({ ...change, where })
    compareReplyPlace(was.reply, is.reply, where, within)
    compareMessages(walk, action, where, was.reply.messages, is.reply.messages, within)
  } else if (was.reply !== null) {
    say({ rule: 'asyncapi-reply-removed', subject: where, side: 'base', located: was.reply.located })
  } else if (is.reply !== null) {
    say({ rule: 'asyncapi-reply-added', subject: where, side: 'head', located: is.reply.located })
  }
}

/** Where the reply goes: the channel, or what of the request says so. Named for the first time, it takes nothing from anyone. */
function compareReplyPlace(was: AsyncReply, is: AsyncReply, where: string, say: SayAsync): void {
  const place = { subject: where, side: 'head', located: is.located } as const
  if (was.channel !== null && was.channel !== is.channel) {
    say({ ...place, rule: 'asyncapi-reply-channel-changed', before: was.channel, after: is.channel })
  }
  if (was.address !== null && was.address !== is.address) {
    say({ ...place, rule: 'asyncapi-reply-address-changed', before: was.address, after: is.address })
  }
}

function tellNewDangling({ base, head, report }: AsyncWalk): void {
  const known = new Set(danglingReferences(base.documents).map(({ reference }) => reference))
  for (const { reference, holder } of danglingReferences(head.documents)) {
    if (known.has(reference)) continue
    const change = { subject: reference, side: 'head', located: holder, after: reference } as const
    report.say({ ...change, rule: 'asyncapi-reference-unresolved' })
  }
}
