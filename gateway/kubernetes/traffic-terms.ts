/** Ports and address ranges as annotations and options state them, read strictly: a mistake is reported, never skipped. */
import { isIP } from 'node:net'

/** Values that were read, or why one of them cannot be. */
export type ReadTerms =
  | { readonly ok: true; readonly values: readonly string[] }
  | { readonly ok: false; readonly problem: string }

const MOST_PORT = 65_535

/** `80, 8000-8010` → `80`, `8000:8010`. */
export function readPorts(text: string): ReadTerms {
  return readEach(text, 'a port or a range: write 80 or 8000-8010', (item) => {
    const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(item) ?? []
    const isGood = first !== '' && isPort(first) && isPort(last) && Number(first) <= Number(last)
    if (!isGood) return null
    return first === last ? first : `${first}:${last}`
  })
}

function isPort(text: string): boolean {
  return Number(text) > 0 && Number(text) <= MOST_PORT
}

/** `10.0.0.0/8, fd00::/8`; a single address is a range too. */
export function readCidrs(text: string): ReadTerms {
  return readEach(text, 'an address or a network: write 10.0.0.7, 10.0.0.0/8 or fd00::/8', (item) => {
    const [address = '', prefix, ...more] = item.split('/')
    const version = isIP(address)
    const most = version === 4 ? 32 : 128
    const isGood = version !== 0 && more.length === 0
    if (!isGood || address.includes('%')) return null
    if (prefix === undefined) return item
    return /^\d{1,3}$/.test(prefix) && Number(prefix) <= most ? item : null
  })
}

/** Items separated by commas or blanks. */
export function separatedItems(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((item) => item !== '')
}

/** @param form what an item is, and how it is written: the end of the sentence about one that is not */
export function readEach(text: string, form: string, read: (item: string) => string | null): ReadTerms {
  const values: string[] = []
  for (const item of separatedItems(text)) {
    const value = read(item)
    if (value === null) return { ok: false, problem: `${JSON.stringify(item)} is not ${form}` }
    values.push(value)
  }
  return { ok: true, values }
}
