/**
 * The ledger as lines of JSON that verify without the store (docs/reference/ledger.md#export-of-the-whole-ledger): the
 * entries of every chain with the rows that their digests cover, then the signed heads. A reader recomputes every hash from the
 * lines alone.
 */
import type { KeySet } from '../../engine/internal.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { readCheckpoint } from './checkpoints.ts'
import { NO_ROW } from './ledger.ts'
import type { StorePart } from './store.ts'
import { jsonOrNull, recordIn } from '../json/unchecked-json.ts'

/** Of a ledger with one chain. */
const EXPORT_FORMAT = 'preflight-ledger.v1'
/** Of a ledger that several gateways write: each line names its chain. */
const SHARED_EXPORT_FORMAT = 'preflight-ledger.v2'

type ExportStore = StorePart<'ledger.beginnings' | 'ledger.entries' | 'ledger.checkpoints'>

const PAGE = 1000

/** The lines of an export, each with its line break. Holds one page in memory. */
export async function* exportLines({ ledger }: ExportStore, at: number): AsyncGenerator<string> {
  const chains = await ledger.beginnings()
  const [only] = chains
  if (only === undefined) throw new Error('the ledger has no chain: run `preflight ledger verify`')
  const behind = new Map(chains.map(({ chain, begins }) => [chain, begins?.sequence ?? 0]))
  let entries = await ledger.entries(Object.fromEntries(behind), PAGE)
  const isShared = chains.length > 1 || entries.some(({ ordinal }) => ordinal !== undefined)
  const format = isShared ? SHARED_EXPORT_FORMAT : EXPORT_FORMAT
  yield line({ line: 'export', format, at: new Date(at).toISOString(), ...(isShared ? { chains } : only) })
  for (;;) {
    for (const { chain, ...entry } of entries) {
      yield line({ line: 'entry', ...(isShared && { chain }), ...entry })
      behind.set(chain, entry.sequence)
    }
    if (entries.length < PAGE) break
    entries = await ledger.entries(Object.fromEntries(behind), PAGE)
  }
  for (const [chain, last] of behind)
    for (const { sequence, hash, token } of await ledger.checkpoints(chain))
      // One that was signed since is about an entry that is not here.
      if (sequence <= last) yield line({ line: 'checkpoint', ...(isShared && { chain }), sequence, hash, token })
  yield line({ line: 'end', entries: isShared ? Object.fromEntries(behind) : behind.get(only.chain) })
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}

export interface ExportedChain {
  readonly chain: string
  readonly entries: number
  /** Sequence of the newest signed entry; 0: no checkpoint could be verified, so nothing proves that its end is here. */
  readonly signed: number
}

export interface ExportReport {
  readonly chains: readonly ExportedChain[]
  /** Of all chains. */
  readonly entries: number
  readonly decisions: number
  readonly calls: number
  /** Entries up to the newest signed one of each chain; 0: no checkpoint could be verified. */
  readonly signed: number
  readonly faults: readonly string[]
}

const MOST_FAULTS = 50

/** Recomputes everything in an export. @param keys null: signatures are not checked, which is a fault */
export async function verifyExport(lines: AsyncIterable<string>, keys: KeySet | null): Promise<ExportReport> {
  const check = new ExportCheck(keys)
  for await (const text of lines) if (text.trim() !== '') check.take(text)
  return check.report()
}

type ExportLine = Readonly<Partial<Record<string, unknown>>>

/** What was read of one chain. */
class ChainCheck {
  readonly chain: string
  readonly hashes = new Map<number, string>()
  sequence = 0
  hash: string
  signed = 0
  decision: { readonly sequence: number; readonly hash: string } = { sequence: 0, hash: `sha256:${'0'.repeat(64)}` }

  constructor(chain: string) {
    this.chain = chain
    this.hash = `sha256:${sha256Hex(`preflight ledger chain\n${chain}`)}`
  }

  /** Goes on from the signed entry where the beginning was removed. @returns false: it is malformed */
  beginBehind({ sequence, hash, decision, decisionHash }: ExportLine): boolean {
    if (typeof sequence !== 'number' || typeof hash !== 'string' || typeof decision !== 'number') return false
    this.advance(sequence, hash)
    if (typeof decisionHash === 'string') this.decision = { sequence: decision, hash: decisionHash }
    return true
  }

  advance(sequence: number, hash: string): void {
    this.sequence = sequence
    this.hash = hash
    this.hashes.set(sequence, hash)
  }
}

interface TakenEntry {
  readonly kind: string
  readonly key: string
  readonly digest: string
  /** 0 where there is one chain. */
  readonly ordinal: number
}

class ExportCheck {
  readonly #keys: KeySet | null
  readonly #faults: string[] = []
  readonly #chains = new Map<string, ChainCheck>()
  /** Newest entry of each row that may change, and the digest of the row that came with it. */
  readonly #newest = new Map<string, Pick<TakenEntry, 'digest' | 'ordinal'> & { readonly row: string | null }>()
  /** Decisions in the export: an event of another one belongs to a decision that was pruned. */
  readonly #ids = new Set<string>()
  /** Keys of events whose row did not come along. */
  readonly #withoutRow: string[] = []
  #isShared = false
  #decisions = 0
  #calls = 0
  #lines = 0
  #isEnded = false

  constructor(keys: KeySet | null) {
    this.#keys = keys
  }

  take(text: string): void {
    this.#lines += 1
    const value = recordIn(jsonOrNull(text))
    if (this.#isEnded) return this.#fault(`Line ${this.#lines} follows the end.`)
    const kind = value['line']
    if (this.#lines === 1) this.#begin(value)
    else if (kind === 'entry') this.#entry(value)
    else if (kind === 'checkpoint') this.#checkpoint(value)
    else if (kind === 'end') this.#end(value)
    else this.#fault(`Line ${this.#lines} is not a line of an export.`)
  }

  report(): ExportReport {
    if (!this.#isEnded) this.#fault('The export has no end: it was cut off.')
    for (const [key, { digest, row }] of this.#newest)
      if ((row ?? NO_ROW) !== digest) this.#fault(`The row ${key} was changed or removed.`)
    for (const key of this.#withoutRow)
      if (this.#ids.has(textsInJson(key)[0] ?? '')) this.#fault(`The event ${key} was changed or removed.`)
    const chains = [...this.#chains.values()].map(({ chain, sequence, signed }) => ({
      chain,
      entries: sequence,
      signed,
    }))
    const signed = chains.reduce((sum, chain) => sum + chain.signed, 0)
    if (this.#keys === null) this.#fault('No key set was given, so no signature was checked.')
    else if (signed === 0) this.#fault('No checkpoint of a known key is in the export: nothing proves it is whole.')
    const { length } = this.#faults
    return {
      chains,
      entries: chains.reduce((sum, chain) => sum + chain.entries, 0),
      decisions: this.#decisions,
      calls: this.#calls,
      signed,
      faults: length > MOST_FAULTS ? this.#faults.slice(0, MOST_FAULTS) : this.#faults,
    }
  }

  #fault(message: string): void {
    this.#faults.push(message)
  }

  #begin({ line: kind, format, chain, begins, chains }: ExportLine): void {
    this.#isShared = format === SHARED_EXPORT_FORMAT
    const stated: readonly unknown[] = !this.#isShared ? [{ chain, begins }] : Array.isArray(chains) ? chains : []
    const named = stated.map(recordIn)
    const isKnown = kind === 'export' && (this.#isShared || format === EXPORT_FORMAT)
    if (!isKnown || named.length === 0 || named.some((each) => typeof each['chain'] !== 'string'))
      return this.#fault(
        `The first line is not that of an export of the form ${EXPORT_FORMAT} or ${SHARED_EXPORT_FORMAT}.`,
      )
    for (const each of named) this.#beginChain(new ChainCheck(String(each['chain'])), each['begins'] ?? null)
  }

  #beginChain(check: ChainCheck, begins: unknown): void {
    this.#chains.set(check.chain, check)
    if (begins === null) return
    const cut = recordIn(begins)
    if (!check.beginBehind(cut)) return this.#fault(`The beginning of the chain ${check.chain} is malformed.`)
    this.#checkpoint({ ...cut, chain: check.chain })
  }

  /** The chain of a line. One that was opened while the export was written begins with its first entry. */
  #chainOf({ chain }: ExportLine): ChainCheck | null {
    if (!this.#isShared) return this.#chains.values().next().value ?? null
    if (typeof chain !== 'string') return null
    const known = this.#chains.get(chain) ?? new ChainCheck(chain)
    this.#chains.set(chain, known)
    return known
  }

  #entry(value: ExportLine): void {
    const check = this.#chainOf(value)
    if (check === null) return this.#fault(`Line ${this.#lines} belongs to no chain.`)
    const { sequence, kind, key, digest, hash, ordinal, rows } = value
    const expected = check.sequence + 1
    const order = ordinal === undefined ? [] : [ordinal]
    const covered = JSON.stringify([check.hash, check.chain, expected, kind, key, digest, ...order])
    if (sequence !== expected || hash !== `sha256:${sha256Hex(covered)}`)
      return this.#fault(`Entry ${expected} of the chain ${check.chain} was changed, removed or moved.`)
    check.advance(expected, hash)
    if (typeof kind !== 'string' || typeof key !== 'string' || typeof digest !== 'string') return
    const given = Array.isArray(rows) ? rows : null
    if (kind === 'decision') return this.#decisionRow(check, key, digest, given)
    this.#rows({ kind, key, digest, ordinal: typeof ordinal === 'number' ? ordinal : 0 }, given)
  }

  #rows({ kind, key, digest, ordinal }: TakenEntry, rows: readonly unknown[] | null): void {
    if (kind === 'calls') {
      this.#calls += rows?.length ?? 0
      if (rows === null || sha256Hex(JSON.stringify(rows)) !== digest)
        this.#fault(`Of the call records ${key} at least one was changed, removed or added.`)
      return
    }
    if (kind === 'opened' || kind === 'accepted' || kind === 'pruned') return
    const row = rows?.[0] === undefined ? null : sha256Hex(JSON.stringify(rows[0]))
    if (kind === 'receipt_event') {
      // Its decision may be in a chain that is still to come.
      if (row === null) this.#withoutRow.push(key)
      else if (row !== digest) this.#fault(`The event ${key} was changed or removed.`)
      return
    }
    // Of a row that may change only the newest entry, in the order of all chains, comes with it.
    const name = `${kind} ${key}`
    if (ordinal >= (this.#newest.get(name)?.ordinal ?? 0)) this.#newest.set(name, { digest, row, ordinal })
  }

  #decisionRow(check: ChainCheck, key: string, digest: string, rows: readonly unknown[] | null): void {
    const columns: unknown = rows?.[0]
    if (!Array.isArray(columns)) return this.#fault(`The decision ${key} is missing.`)
    const [sequence, ...rest]: readonly unknown[] = columns
    const { decision: previous } = check
    // Where several gateways write, a chain has only some of the sequences; the hash of the decision before tells.
    const isNext = this.#isShared ? Number(sequence) > previous.sequence : sequence === previous.sequence + 1
    const hash = `sha256:${sha256Hex(JSON.stringify([previous.hash, sequence, ...rest]))}`
    const id: unknown = rest[0]
    if (!isNext || sha256Hex(JSON.stringify([id, sequence, hash])) !== digest)
      return this.#fault(`The decision ${key} was changed, removed or moved.`)
    check.decision = { sequence: Number(sequence), hash }
    if (typeof id === 'string') this.#ids.add(id)
    this.#decisions += 1
  }

  #checkpoint(value: ExportLine): void {
    const check = this.#chainOf(value)
    const { sequence, hash, token } = value
    if (check === null || typeof sequence !== 'number' || typeof token !== 'string')
      return this.#fault('A checkpoint is malformed.')
    if (check.hashes.get(sequence) !== hash)
      return this.#fault(`Entry ${sequence} of the chain ${check.chain} is not the one that was signed.`)
    if (this.#keys === null) return
    const read = readCheckpoint(token, this.#keys)
    if (!read.ok) {
      if (read.isForged) this.#fault(`The checkpoint of entry ${sequence} is forged: ${read.problem}.`)
      return
    }
    const { checkpoint } = read
    const isSame = checkpoint.chain === check.chain && checkpoint.sequence === sequence && checkpoint.hash === hash
    if (isSame) check.signed = Math.max(check.signed, sequence)
    else this.#fault(`The checkpoint of entry ${sequence} was signed for another entry.`)
  }

  #end({ entries }: ExportLine): void {
    this.#isEnded = true
    for (const { chain, sequence } of this.#chains.values()) {
      const stated = this.#isShared ? recordIn(entries)[chain] : entries
      if (stated !== sequence)
        this.#fault(`The chain ${chain} ends at entry ${sequence}, and the export says ${String(stated)}.`)
    }
    for (const chain of this.#isShared ? Object.keys(recordIn(entries)) : [])
      if (!this.#chains.has(chain)) this.#fault(`The chain ${chain} is missing.`)
  }
}

function textsInJson(list: string): readonly string[] {
  const value = jsonOrNull(list)
  return Array.isArray(value) ? value.map(String) : []
}
