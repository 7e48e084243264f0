/** Servers of AsyncAPI, and the security that they and operations ask for. */
import { byCodeUnit } from '../../change-set.ts'
import type { AsyncApi } from '../../contracts/asyncapi/contract.ts'
import { canonicalJson, type Json } from '../../hash.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, memberOf, stepInto, type Located } from '../../schema/located.ts'
import { nameValue } from '../../schema/values.ts'
import { compareBindings } from './bindings.ts'
import { compareVariables } from './server-places.ts'
import type { AsyncWalk, SayAsync } from './walk.ts'

export function compareServers(walk: AsyncWalk, say: SayAsync): void {
  const { base, head } = walk
  for (const name of [...new Set([...base.servers.keys(), ...head.servers.keys()])].sort(byCodeUnit)) {
    const [was, is] = [base.servers.get(name), head.servers.get(name)]
    if (was === undefined && is !== undefined) {
      say({ rule: 'asyncapi-server-added', subject: name, name, side: 'head', located: is.located, after: is.url })
    } else if (was !== undefined && is === undefined) {
      say({ rule: 'asyncapi-server-removed', subject: name, name, side: 'base', located: was.located, before: was.url })
    } else if (was !== undefined && is !== undefined) {
      const shared = { subject: name, name, side: 'head', located: is.located } as const
      if (was.url !== is.url) {
        say({ ...shared, rule: 'asyncapi-server-address-changed', before: was.url, after: is.url })
      }
      if (was.protocol !== is.protocol) {
        say({ ...shared, rule: 'asyncapi-server-protocol-changed', before: was.protocol, after: is.protocol })
      } else if (was.protocolVersion !== null && was.protocolVersion !== is.protocolVersion) {
        const versions = { before: was.protocolVersion, after: is.protocolVersion }
        say({ ...shared, rule: 'asyncapi-server-protocol-version-changed', ...versions })
      }
      const where = `server ${name}`
      const within: SayAsync = (change) => say({ ...change, where, endpoint: where })
      compareVariables(was.variables, is.variables, where, within)
      const bindings = { was: was.bindings, is: is.bindings, of: where, action: 'receive', endpoint: where } as const
      compareBindings(walk, bindings, within)
      compareSecurity(walk, was.security, is.security, { was: was.located, is: is.located }, where, within)
    }
  }
}

interface Owners {
  readonly was: Located
  readonly is: Located
}

/** Each item of a list of security is one way to authenticate; none at all asks for nothing. */
export function compareSecurity(
  { base, head }: AsyncWalk,
  was: Located | null,
  is: Located | null,
  owners: Owners,
  of: string,
  say: SayAsync,
): void {
  const [old, now] = [alternativesOf(was, base), alternativesOf(is, head)]
  const gone = { side: 'base', located: was ?? owners.was } as const
  const there = { side: 'head', located: is ?? owners.is } as const
  if (old.size === 0 && now.size > 0) {
    say({ ...there, rule: 'asyncapi-security-added', subject: of, after: namesOf(now) })
    return
  }
  if (old.size > 0 && now.size === 0) {
    say({ ...gone, rule: 'asyncapi-security-removed', subject: of, before: namesOf(old) })
    return
  }
  for (const [key, { name, flows }] of old) {
    const kept = now.get(key)
    const subject = `${of} ${key}`
    if (kept === undefined) {
      say({ ...gone, rule: 'asyncapi-security-alternative-removed', subject, name, before: name })
    } else if (!isEqual(flows, kept.flows)) {
      say({ ...there, rule: 'asyncapi-security-flow-changed', subject, name, before: flows, after: kept.flows })
    }
  }
  for (const [key, { name }] of now) {
    if (old.has(key)) continue
    say({ ...there, rule: 'asyncapi-security-alternative-added', subject: `${of} ${key}`, name, after: name })
  }
}

interface Alternative {
  /** How people call it. */
  readonly name: string
  /** Where tokens are asked for, by the schemes in their order. */
  readonly flows: readonly Json[]
}

function namesOf(alternatives: ReadonlyMap<string, Alternative>): readonly string[] {
  return [...alternatives.values()].map(({ name }) => name)
}

/** What is asked for, by what makes it another way. 2.x names schemes with scopes, 3.x refers to schemes that hold them. */
function alternativesOf(security: Located | null, api: AsyncApi): ReadonlyMap<string, Alternative> {
  const found = new Map<string, Alternative>()
  const items: readonly unknown[] = Array.isArray(security?.value) ? security.value : []
  for (const [index, value] of items.entries()) {
    if (security === null || !isRecord(value)) continue
    const located = { value, at: stepInto(security.at, String(index)), document: security.document }
    const parts = api.version.startsWith('2')
      ? requirementOf(value, api)
      : [schemeOf(api.documents.follow(located), null)]
    const key = canonicalJson(
      parts.map(({ identity }) => identity).sort((a, b) => byCodeUnit(nameValue(a), nameValue(b))),
    )
    const flows = parts.map((part) => part.flows)
    found.set(key, { name: parts.map(({ name }) => name).join(' and '), flows })
  }
  return found
}

interface Scheme {
  readonly identity: Json
  readonly name: string
  /** Addresses of its flows, by flow; scopes are part of what is asked for. */
  readonly flows: Json
}

function requirementOf(requirement: Readonly<Record<string, unknown>>, api: AsyncApi): readonly Scheme[] {
  const components = memberOf(api.documents.root, 'components')
  const schemes = components === null ? null : memberOf(components, 'securitySchemes')
  return Object.keys(requirement)
    .sort(byCodeUnit)
    .map((name) => {
      const held = schemes === null ? null : memberOf(schemes, name)
      return schemeOf(held === null ? null : api.documents.follow(held), requirement[name])
    })
}

function schemeOf(scheme: Located | null, scopes: unknown): Scheme {
  const value = isRecord(scheme?.value) ? scheme.value : {}
  const list: unknown = scopes ?? value['scopes']
  const named = Array.isArray(list) ? list.filter((scope) => typeof scope === 'string').sort(byCodeUnit) : []
  const told = ['type', 'scheme', 'in', 'name', 'openIdConnectUrl'].flatMap((member): [string, string][] => {
    const stated = value[member]
    return typeof stated === 'string' ? [[member, stated]] : []
  })
  const type = told.find(([member]) => member === 'type')?.[1] ?? 'a scheme that is not defined'
  const name = named.length === 0 ? type : `${type} (${named.join(', ')})`
  return { identity: { ...Object.fromEntries(told), scopes: named }, name, flows: addressesOf(value['flows']) }
}

function addressesOf(flows: unknown): Json {
  if (!isRecord(flows)) return {}
  const addresses = Object.entries(flows).flatMap(([flow, members]): [string, string][] =>
    isRecord(members)
      ? Object.entries(members).flatMap(([member, url]): [string, string][] =>
          typeof url === 'string' ? [[`${flow}.${member}`, url]] : [],
        )
      : [],
  )
  return Object.fromEntries(addresses)
}
