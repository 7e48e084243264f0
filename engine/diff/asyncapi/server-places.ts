/** Server addresses: which servers are the same, the variables in addresses, and the servers of a channel. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { AsyncChannel, AsyncServer } from '../../contracts/asyncapi/contract.ts'
import { isRecord } from '../../schema/located.ts'
import { matchByKey, matchRest } from '../match.ts'
import { parameterNames, plainServerAddress } from './addresses.ts'
import { followed, memberIn, type AsyncWalk, type MatchedServers } from './walk.ts'

/** By name. The name is not part of an address, so a server with the same address and protocol is the same server. */
export function matchServers({ base, head }: Pick<AsyncWalk, 'base' | 'head'>): MatchedServers {
  const inOrder = (servers: typeof base.servers): readonly AsyncServer[] =>
    [...servers.values()].toSorted((one, other) => byCodeUnit(one.name, other.name))
  const byName = matchByKey(inOrder(base.servers), inOrder(head.servers), ({ name }) => name)
  const matched = matchRest(byName, ({ url, protocol }) => `${protocol.toLowerCase()} ${plainServerAddress(url)}`)
  return {
    ...matched,
    placesBefore: new Map(matched.kept.map(([{ name }], index) => [name, index])),
    placesAfter: new Map(matched.kept.map(([, { name }], index) => [name, index])),
  }
}

/** Whether every one of the values is among the others; null is any value. */
function isSubset(values: readonly string[] | null, others: readonly string[] | null): boolean {
  return others === null || (values !== null && values.every((value) => others.includes(value)))
}

/** Matches address variables by position. An added or removed variable is a change of the address. */
export function compareVariables(walk: AsyncWalk, base: AsyncServer, head: AsyncServer, of: string): void {
  const names = parameterNames(head.url)
  for (const [index, baseName] of parameterNames(base.url).entries()) {
    const name = names[index] ?? baseName
    const held = followed(memberIn(base.variables, baseName), walk.base)
    const defined = followed(memberIn(head.variables, name), walk.head)
    const [before, after] = [serverVariable(held?.value), serverVariable(defined?.value)]
    const located = defined ?? head.located
    const place = { subject: `${of} variable ${name}`, name, side: 'head', located } as const
    const values = { before: before.values, after: after.values }
    if (!isSubset(before.values, after.values)) {
      walk.add({ ...place, rule: 'asyncapi-server-variable-narrowed', ...values })
    } else if (!isSubset(after.values, before.values)) {
      walk.add({ ...place, rule: 'asyncapi-server-variable-widened', ...values })
    }
    // Without a definition clients had to state a value.
    if (held !== null && before.fallback !== after.fallback) {
      const change = { before: before.fallback, after: after.fallback }
      walk.add({ ...place, rule: 'asyncapi-server-variable-default-changed', ...change })
    }
  }
}

interface ServerVariable {
  /** Null if the variable may have any value. */
  readonly values: readonly string[] | null
  readonly fallback: string | null
}

function serverVariable(variable: unknown): ServerVariable {
  if (!isRecord(variable)) return { values: null, fallback: null }
  const { enum: listed, default: fallback } = variable
  const values = Array.isArray(listed) ? listed.filter((value) => typeof value === 'string').sort(byCodeUnit) : []
  return { values: values.length === 0 ? null : values, fallback: typeof fallback === 'string' ? fallback : null }
}

function isOn({ servers }: AsyncChannel, name: string): boolean {
  return servers === null || servers.has(name)
}

/** The servers that a channel may be on at one side only. */
function serversOfEither(
  { kept, placesBefore, placesAfter }: MatchedServers,
  base: AsyncChannel,
  head: AsyncChannel,
): MatchedServers['kept'] {
  if (base.servers === null && head.servers === null) return []
  if (base.servers === null || head.servers === null) return kept
  const before = [...base.servers.keys()].map((name) => placesBefore.get(name))
  const after = [...head.servers.keys()].map((name) => placesAfter.get(name))
  return [...new Set([...before, ...after])].flatMap((index) => {
    const pair = index === undefined ? undefined : kept[index]
    return pair === undefined ? [] : [pair]
  })
}

/**
 * The servers of a channel; a channel that names none is on all servers. Removed servers are reported as removed
 * servers.
 */
export function compareChannelServers(walk: AsyncWalk, base: AsyncChannel, head: AsyncChannel): void {
  for (const [{ name: baseName }, { name }] of serversOfEither(walk.servers, base, head)) {
    const [before, after] = [isOn(base, baseName), isOn(head, name)]
    if (before === after) continue
    const subject = `${head.address} server ${name}`
    if (after) {
      const located = head.servers?.get(name) ?? head.located
      walk.add({ rule: 'asyncapi-channel-server-added', subject, name, side: 'head', located, after: name })
    } else {
      const located = base.servers?.get(baseName) ?? base.located
      walk.add({
        rule: 'asyncapi-channel-server-removed',
        subject,
        name: baseName,
        side: 'base',
        located,
        before: baseName,
      })
    }
  }
}
