/** One entry of a list of destinations: `api.example`, `*.example`, `api.example:8443`, `192.0.2.7`, `10.0.0.0/8`, `[2001:db8::1]:443`. */
import { isIP, type BlockList } from 'node:net'
import { domainToASCII } from 'node:url'
import { canonicalAddress, addressFamily, subnet, type AddressFamily, type SpecialRange } from './address.ts'
import { canonicalHost, readPort, type Authority } from './authority.ts'
import { fail } from '../../engine/base.ts'

export type HostRule =
  /** Null port: any. */
  | { readonly kind: 'host'; readonly host: string; readonly port: number | null }
  /** `.example`: every name below it, not the name itself. */
  | { readonly kind: 'suffix'; readonly suffix: string; readonly port: number | null }
  | {
      readonly kind: 'network'
      readonly list: BlockList
      readonly family: AddressFamily
      readonly prefix: number
      readonly port: number | null
    }

type RuleReading = { readonly ok: true; readonly rule: HostRule } | { readonly ok: false; readonly problem: string }

export function readHostRule(text: string): RuleReading {
  if (text.includes('/')) return readNetwork(text)
  const parts = /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/.exec(isIP(text) === 6 ? `[${text}]` : text)
  if (parts === null) return fail('it is not a host, an address or a network')
  const [, hostText = '', portText] = parts
  const port = portText === undefined ? null : readPort(portText)
  if (portText !== undefined && port === null) return fail(`"${portText}" is not a port from 1 to 65535`)
  if (hostText.startsWith('*.')) {
    const below = canonicalHost(domainToASCII(hostText.slice(2)))
    return below.ok && isIP(below.host) === 0
      ? { ok: true, rule: { kind: 'suffix', suffix: `.${below.host}`, port } }
      : fail(`"${hostText}" is not *. before a name`)
  }
  if (hostText.includes('*')) return fail('* stands only before a dot and a name, as in *.example.com')
  const host = canonicalHost(hostText.startsWith('[') ? hostText : domainToASCII(hostText) || hostText)
  if (!host.ok) return host
  // Octal, hexadecimal or short: readers differ in the address that it means.
  if (isIP(host.host) === 4 && isIP(hostText) !== 4 && !hostText.startsWith('['))
    return fail(`"${hostText}" is no plain address; it may mean ${host.host}`)
  const bits = isIP(host.host) === 4 ? 32 : 128
  return isIP(host.host) === 0
    ? { ok: true, rule: { kind: 'host', host: host.host, port } }
    : { ok: true, rule: networkRule(host.host, bits, port) }
}

function readNetwork(text: string): RuleReading {
  const [, network = '', bits = ''] = /^([^/]*)\/([0-9]{1,3})$/.exec(text) ?? []
  const address = canonicalAddress(network.replace(/^\[|\]$/g, ''))
  if (address === null) return fail('it is not a network like 10.0.0.0/8 or fd00::/8')
  const prefix = Number(bits)
  if (prefix > (isIP(address) === 4 ? 32 : 128)) return fail(`a network of this family has no prefix of ${bits} bits`)
  return { ok: true, rule: networkRule(address, prefix, null) }
}

function networkRule(address: string, prefix: number, port: number | null): HostRule {
  const family = addressFamily(address)
  return { kind: 'network', list: subnet(address, prefix, family), family, prefix, port }
}

/** True when the rule names this destination as it is written: a name by name, an address by address or network. */
export function coversAuthority(rule: HostRule, { host, port }: Authority): boolean {
  if (rule.port !== null && rule.port !== port) return false
  if (rule.kind === 'host') return rule.host === host
  if (rule.kind === 'suffix') return isIP(host) === 0 && host.endsWith(rule.suffix)
  return coversAddress(rule, host, port)
}

/** True when the rule names this address, wherever it came from. */
export function coversAddress(rule: HostRule, address: string, port: number): boolean {
  if (rule.kind !== 'network' || (rule.port !== null && rule.port !== port)) return false
  return isIP(address) !== 0 && addressFamily(address) === rule.family && rule.list.check(address, rule.family)
}

/**
 * True when the rule names this special range explicitly and does not only include it. `0.0.0.0/0` names neither loopback nor
 * the metadata of a cloud. `169.254.0.0/16` names link-local addresses, but not the metadata address among them.
 */
export function isAbout(rule: HostRule, range: SpecialRange): boolean {
  return rule.kind === 'network' && rule.family === range.family && rule.prefix >= range.prefix
}
