/** IP addresses that are not simply somewhere on the internet, by kind (IANA special-purpose registries), and their one spelling. */
import { BlockList, isIP } from 'node:net'

type AddressKind = 'unspecified' | 'loopback' | 'private' | 'link-local' | 'cloud metadata' | 'reserved'

export interface SpecialRange {
  readonly kind: AddressKind
  readonly prefix: number
  readonly family: AddressFamily
}

export type AddressFamily = 'ipv4' | 'ipv6'

type NetworkRow = readonly [network: string, prefix: number, kind: AddressKind]

/** Narrower ranges before the wider ones that hold them: the first that holds an address says what it is. */
const SPECIAL: Readonly<Record<AddressFamily, readonly NetworkRow[]>> = {
  ipv4: [
    // Credentials of the machine, for whoever asks: AWS, Azure, Google and others; ECS tasks; EKS pods; Alibaba; Oracle; Azure's host.
    ['169.254.169.254', 32, 'cloud metadata'],
    ['169.254.170.2', 32, 'cloud metadata'],
    ['169.254.170.23', 32, 'cloud metadata'],
    ['100.100.100.200', 32, 'cloud metadata'],
    ['192.0.0.192', 32, 'cloud metadata'],
    ['168.63.129.16', 32, 'cloud metadata'],
    ['0.0.0.0', 8, 'unspecified'],
    ['10.0.0.0', 8, 'private'],
    ['100.64.0.0', 10, 'private'],
    ['127.0.0.0', 8, 'loopback'],
    ['169.254.0.0', 16, 'link-local'],
    ['172.16.0.0', 12, 'private'],
    ['192.0.0.0', 24, 'reserved'],
    ['192.0.2.0', 24, 'reserved'],
    ['192.88.99.0', 24, 'reserved'],
    ['192.168.0.0', 16, 'private'],
    ['198.18.0.0', 15, 'reserved'],
    ['198.51.100.0', 24, 'reserved'],
    ['203.0.113.0', 24, 'reserved'],
    ['224.0.0.0', 3, 'reserved'],
  ],
  ipv6: [
    ['fd00:ec2::254', 128, 'cloud metadata'],
    ['fd00:ec2::23', 128, 'cloud metadata'],
    ['fd20:ce::254', 128, 'cloud metadata'],
    ['::', 128, 'unspecified'],
    ['::1', 128, 'loopback'],
    ['fc00::', 7, 'private'],
    ['fe80::', 10, 'link-local'],
    // Of IPv6 only global unicast counts as public, and of that not the parts that carry an IPv4 address or documentation.
    ['::', 3, 'reserved'],
    ['4000::', 2, 'reserved'],
    ['8000::', 1, 'reserved'],
    ['2001::', 23, 'reserved'],
    ['2001:db8::', 32, 'reserved'],
    ['2002::', 16, 'reserved'],
    ['3fff::', 20, 'reserved'],
  ],
}

interface AddressRange extends SpecialRange {
  readonly list: BlockList
}

const ranges: Readonly<Record<AddressFamily, readonly AddressRange[]>> = {
  ipv4: SPECIAL.ipv4.map((row) => addressRange(row, 'ipv4')),
  ipv6: SPECIAL.ipv6.map((row) => addressRange(row, 'ipv6')),
}

function addressRange([network, prefix, kind]: NetworkRow, family: AddressFamily): AddressRange {
  return { kind, prefix, family, list: subnet(network, prefix, family) }
}

export function subnet(network: string, prefix: number, family: AddressFamily): BlockList {
  const list = new BlockList()
  list.addSubnet(network, prefix, family)
  return list
}

/**
 * The one spelling of an address that others know under many: `::FFFF:7F00:1` → `127.0.0.1`. Null for what is no address,
 * for shortened or octal IPv4 (`127.1`, `0177.0.0.1`), and for addresses that are only good on one interface (`fe80::1%eth0`).
 */
export function canonicalAddress(text: string): string | null {
  if (isIP(text) === 4) return text
  if (isIP(text) !== 6 || text.includes('%')) return null
  const address = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address)
  if (mapped === null) return address
  const [high, low] = [mapped[1], mapped[2]].map((group) => Number.parseInt(group ?? '', 16))
  return [high, low].flatMap((group = 0) => [group >> 8, group & 0xff]).join('.')
}

export function addressFamily(address: string): AddressFamily {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

/** What a canonical address is when it is not simply public; null for one that anybody on the internet can reach. */
export function specialRange(address: string): SpecialRange | null {
  const family = addressFamily(address)
  return ranges[family].find(({ list }) => list.check(address, family)) ?? null
}

/** True for an address that anybody on the internet can reach; false for a name. */
export function isPublicAddress(address: string): boolean {
  const canonical = canonicalAddress(address)
  return canonical !== null && specialRange(canonical) === null
}
