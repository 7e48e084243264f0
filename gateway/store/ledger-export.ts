/**
 * The ledger as lines of JSON that verify without the store (docs/reference/ledger.md#export-of-the-whole-ledger): every journal
 * entry with the rows that its digest covers, then the signed heads. A reader recomputes every hash from the lines alone.
 */
import type { KeySet } from '../../engine/internal.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { readCheckpoint } from './checkpoint-token.ts'
import type { StorePart } from './store.ts'

export const EXPORT_FORMAT = 'preflight-ledger.v1'

type ExportStore = StorePart<'ledger.head' | 'ledger.newestCut' | 'ledger.entries' | 'ledger.checkpoints'>

const PAGE = 500

/** The lines of an export, each with its line break. Holds one page in memory. */
export async function* exportLines({ ledger }: ExportStore, at: number): AsyncGenerator<string> {
  const head = await ledger.head()
  if (head === null) throw new Error('the ledger has no chain: run `preflight ledger verify`')
  const cut = await ledger.newestCut(head.chain)
  yield line({ line: 'export', format: EXPORT_FORMAT, at: new Date(at).toISOString(), chain: head.chain, begins: cut })
  let from = cut?.sequence ?? 0
  for (;;) {
    const entries = await ledger.entries(head.chain, from, PAGE)
    for (const entry of entries) yield line({ line: 'entry', ...entry })
    const last = entries.at(-1)
    if (last === undefined) break
    from = last.sequence
  }
  const signed = await ledger.checkpoints(head.chain)
  for (const { sequence, hash, token } of signed) yield line({ line: 'checkpoint', sequence, hash, token })
  yield line({ line: 'end', entries: from })
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}

export interface ExportReport {
  readonly entries: number
  readonly decisions: number
  readonly calls: number
  /** Sequence of the newest signed entry; 0: no checkpoint could be verified. */
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

class ExportCheck {
  readonly #keys: KeySet | null
  readonly #faults: string[] = []
  readonly #hashes = new Map<number, string>()
  /** Newest digest of each row that may change, and the digest of the row that came with it. */
  readonly #newest = new Map<string, { readonly digest: string; readonly row: string | null }>()
  /** Decisions in the export: an event of another one belongs to a decision that was pruned. */
  readonly #ids = new Set<string>()
  #chain = ''
  #sequence = 0
  #hash = ''
  #decision: { sequence: number; hash: string } = { sequence: 0, hash: '' }
  #decisions = 0
  #calls = 0
  #signed = 0
  #lines = 0
  #isEnded = false

  constructor(keys: KeySet | null) {
    this.#keys = keys
  }

  take(text: string): void {
    this.#lines += 1
    const value = recordIn(parsed(text))
    if (this.#isEnded) return this.#fault(`Line ${this.#lines} follows the end.`)
    const kind = value['line']
    if (this.#lines === 1) this.#begin(value)
    else if (kind === 'entry') this.#entry(value)
    else if (kind === 'checkpoint') this.#checkpoint(value)
    else if (kind === 'end') this.#end(value)
    else this.#fault(`Line ${this.#lines} is no line of an export.`)
  }

  report(): ExportReport {
    if (!this.#isEnded) this.#fault('The export has no end: it was cut off.')
    for (const [key, { digest, row }] of this.#newest)
      if (row !== digest) this.#fault(`The row ${key} was changed or removed.`)
    if (this.#keys === null) this.#fault('No key set was given, so no signature was checked.')
    else if (this.#signed === 0)
      this.#fault('No checkpoint of a known key is in the export: nothing proves it is whole.')
    const { length } = this.#faults
    return {
      entries: this.#sequence,
      decisions: this.#decisions,
      calls: this.#calls,
      signed: this.#signed,
      faults: length > MOST_FAULTS ? this.#faults.slice(0, MOST_FAULTS) : this.#faults,
    }
  }

  #fault(message: string): void {
    this.#faults.push(message)
  }

  #begin({ line: kind, format, chain, begins }: ExportLine): void {
    if (kind !== 'export' || format !== EXPORT_FORMAT || typeof chain !== 'string')
      return this.#fault(`The first line is not that of an export of the form ${EXPORT_FORMAT}.`)
    this.#chain = chain
    this.#hash = `sha256:${sha256Hex(`preflight ledger chain\n${chain}`)}`
    this.#decision = { sequence: 0, hash: `sha256:${'0'.repeat(64)}` }
    if (begins === null) return
    const cut = recordIn(begins)
    const { sequence, hash, decision, decisionHash, token } = cut
    if (typeof sequence !== 'number' || typeof hash !== 'string' || typeof decision !== 'number')
      return this.#fault('The beginning of the ledger is malformed.')
    this.#sequence = sequence
    this.#hash = hash
    this.#hashes.set(sequence, hash)
    if (typeof decisionHash === 'string') this.#decision = { sequence: decision, hash: decisionHash }
    this.#checkpoint({ sequence, hash, token })
  }

  #entry({ sequence, kind, key, digest, hash, rows }: ExportLine): void {
    const expected = this.#sequence + 1
    const covered = JSON.stringify([this.#hash, this.#chain, expected, kind, key, digest])
    if (sequence !== expected || hash !== `sha256:${sha256Hex(covered)}`)
      return this.#fault(`Entry ${expected} was changed, removed or moved.`)
    this.#sequence = expected
    this.#hash = hash
    this.#hashes.set(expected, hash)
    if (typeof kind !== 'string' || typeof key !== 'string' || typeof digest !== 'string') return
    this.#rows(kind, key, digest, Array.isArray(rows) ? rows : null)
  }

  #rows(kind: string, key: string, digest: string, rows: readonly unknown[] | null): void {
    if (kind === 'decision') return this.#decisionRow(key, digest, rows)
    if (kind === 'calls') {
      this.#calls += rows?.length ?? 0
      if (rows === null || sha256Hex(JSON.stringify(rows)) !== digest)
        this.#fault(`Of the call records ${key} at least one was changed, removed or added.`)
      return
    }
    if (kind === 'opened' || kind === 'accepted' || kind === 'pruned') return
    const row = rows?.[0] === undefined ? null : sha256Hex(JSON.stringify(rows[0]))
    if (kind === 'receipt_event') {
      const isMissing = rows === null && this.#ids.has(textsIn(key)[0] ?? '')
      if (isMissing || (rows !== null && row !== digest)) this.#fault(`The event ${key} was changed or removed.`)
      return
    }
    // Of a row that may change only the newest entry comes with it.
    this.#newest.set(`${kind} ${key}`, { digest, row })
  }

  #decisionRow(key: string, digest: string, rows: readonly unknown[] | null): void {
    const columns: unknown = rows?.[0]
    if (!Array.isArray(columns)) return this.#fault(`The decision ${key} is missing.`)
    const [sequence, ...rest]: readonly unknown[] = columns
    const previous = this.#decision
    const expected = previous.sequence + 1
    const hash = `sha256:${sha256Hex(JSON.stringify([previous.hash, expected, ...rest]))}`
    const id: unknown = rest[0]
    if (sequence !== expected || sha256Hex(JSON.stringify([id, expected, hash])) !== digest)
      return this.#fault(`The decision ${key} was changed, removed or moved.`)
    this.#decision = { sequence: expected, hash }
    if (typeof id === 'string') this.#ids.add(id)
    this.#decisions += 1
  }

  #checkpoint({ sequence, hash, token }: ExportLine): void {
    if (typeof sequence !== 'number' || typeof token !== 'string') return this.#fault('A checkpoint is malformed.')
    if (this.#hashes.get(sequence) !== hash) return this.#fault(`Entry ${sequence} is not the one that was signed.`)
    if (this.#keys === null) return
    const read = readCheckpoint(token, this.#keys)
    if (!read.ok) {
      if (read.isForged) this.#fault(`The checkpoint of entry ${sequence} is forged: ${read.problem}.`)
      return
    }
    const { checkpoint } = read
    const isSame = checkpoint.chain === this.#chain && checkpoint.sequence === sequence && checkpoint.hash === hash
    if (isSame) this.#signed = Math.max(this.#signed, sequence)
    else this.#fault(`The checkpoint of entry ${sequence} was signed for another entry.`)
  }

  #end({ entries }: ExportLine): void {
    this.#isEnded = true
    if (entries !== this.#sequence)
      this.#fault(`The export ends at entry ${this.#sequence}, and says ${String(entries)}.`)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Reported as a line that belongs to no export.
    return null
  }
}

function textsIn(list: string): readonly string[] {
  const value = parsed(list)
  return Array.isArray(value) ? value.map(String) : []
}

function recordIn(value: unknown): ExportLine {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
