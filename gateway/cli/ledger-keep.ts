/** `preflight ledger export`, `show`, `checkpoint`, `prune` and `backup`: what an operator does with the ledger over time. */
import { closeSync, createReadStream, createWriteStream, existsSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { resolve } from 'node:path'
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import type { KeySet } from '../../engine/internal.ts'
import { keySet } from '../api/routes/discovery.ts'
import { exportWholeLedger, PruneAnswer, pruneWholeLedger } from '../api/routes/ledger-keep.ts'
import { parseKeySet } from '../keys/jwks.ts'
import { exportLines, verifyExport, type ExportedChain, type ExportReport } from '../store/ledger-export.ts'
import { pruneLedger } from '../store/retention.ts'
import { checkpointFile, keepCheckpoint, signCheckpoint } from '../store/checkpoints.ts'
import { readLedgerFile } from '../store/sqlite/reader.ts'
import { EXIT, InputError, UsageError, type Arguments, type Command, type ExitCode, momentOf } from './command.ts'
import { PLACE_OPTIONS, placeConfigOf } from './config-option.ts'
import { noteAct, openExistingRing, withStore } from './data-directory.ts'
import { jsonOf, textFile } from './documents.ts'
import { instant } from './format.ts'
import { writeLine, type CommandIo, during } from './io.ts'
import type { GatewayClient } from './gateway-client.ts'
import { remoteDecision } from './ledger-remote.ts'
import { remoteOf, SITE_OPTIONS } from './remote.ts'
import { writePrivateFile } from '../runtime/private-file.ts'
import { assertNoSpecialFile, makeTemporaryFile } from '../runtime/regular-file.ts'
import type { Store } from '../store/store.ts'

export const exportLedger: Command = {
  name: 'export',
  summary: 'Write the whole ledger as lines of JSON that verify without the store.',
  operands: '',
  operandCount: [0, 0],
  options: [
    { name: 'output', value: 'FILE', help: 'File to write; it must not exist. Default: standard output.' },
    ...SITE_OPTIONS,
  ],
  notes: [
    'Run it next to a running gateway, or after it stopped. With --url, it needs the key of an administrator.',
    'Entries after the newest checkpoint are in it too.',
    'It contains receipts that may still be valid: keep it as secret as the ledger.',
    'Verify it anywhere: preflight ledger verify --export FILE --keys jwks.json',
  ].join('\n'),
  run: async (args, io) => {
    const file = args.value('output')
    if (file !== undefined && existsSync(file)) throw new UsageError(`${file} exists already; name a new file`)
    const remote = remoteOf(args, io)
    if (remote === null)
      await withStore(args, io, (store) => writeExport(exportLines(store, Date.now()), file ?? null, io))
    else await writeExport(withBreaks(await remote.lines(exportWholeLedger)), file ?? null, io)
    return EXIT.good
  },
}

async function writeExport(lines: AsyncIterable<string>, file: string | null, io: CommandIo): Promise<void> {
  if (file !== null)
    return during(io, 'exporting the ledger', () =>
      pipeline(Readable.from(lines), createWriteStream(file, { flags: 'wx', mode: 0o600 })),
    )
  for await (const line of lines) io.stdout.write(line)
}

async function* withBreaks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

/** `preflight ledger verify --url URL`: the export of a running gateway, checked here. */
export async function verifyRemote(gateway: GatewayClient, args: Arguments, io: CommandIo): Promise<ExitCode> {
  const keys = keySetFile(args) ?? (await publishedKeys(gateway))
  const lines = await gateway.lines(exportWholeLedger)
  return showExport(await during(io, 'verifying the ledger', () => verifyExport(lines, keys)), args, io)
}

async function publishedKeys(gateway: GatewayClient): Promise<KeySet> {
  const keys = parseKeySet(await gateway.ask(keySet, Type.Object({ keys: Type.Array(Type.Unknown()) })))
  if (!keys.ok) throw new InputError(`${gateway.origin}: ${keys.problem.message}`)
  return keys.value
}

/** `preflight ledger verify --export FILE`. */
export async function verifyExportFile(file: string, args: Arguments, io: CommandIo): Promise<ExitCode> {
  // First, since a file of lines is open from then on.
  const keys = keySetFile(args)
  return showExport(await during(io, 'verifying the export', () => verifyExport(linesOf(file), keys)), args, io)
}

function showExport(report: ExportReport, args: Arguments, io: CommandIo): ExitCode {
  if (args.flag('quiet')) return report.faults.length === 0 ? EXIT.good : EXIT.no
  if (args.value('format') === 'json') writeLine(io.stdout, JSON.stringify(report, null, 2))
  else writeReport(report, io)
  return report.faults.length === 0 ? EXIT.good : EXIT.no
}

function linesOf(file: string): AsyncIterable<string> {
  if (!existsSync(file)) throw new InputError(`there is no file ${file}`)
  assertNoSpecialFile(file)
  return createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })
}

function keySetFile(args: Arguments): KeySet | null {
  const file = args.value('keys')
  if (file === undefined) return null
  const keys = parseKeySet(jsonOf(textFile(file), file))
  if (!keys.ok) throw new InputError(`${file}: ${keys.problem.message}`)
  return keys.value
}

function writeReport({ chains, entries, decisions, calls, signed, faults }: ExportReport, io: CommandIo): void {
  const counts = `${entries} entries, ${decisions} decisions, ${calls} calls`
  const isShared = chains.length > 1
  writeLine(io.stdout, isShared ? `${counts}, ${chains.length} chains` : `${counts}; signed up to entry ${signed}`)
  if (isShared) for (const chain of chains) writeLine(io.stdout, chainLine(chain))
  for (const fault of faults) writeLine(io.stderr, fault)
  if (faults.length === 0) writeLine(io.stdout, 'The export is intact.')
  else writeLine(io.stderr, 'The export is not intact.')
}

function chainLine({ chain, entries, signed }: ExportedChain): string {
  const proof = signed > 0 ? `signed up to entry ${signed}` : 'not signed: nothing proves that its end is here'
  return `chain ${chain}: ${entries} entries, ${proof}`
}

export const showDecision: Command = {
  name: 'show',
  summary: 'Show one decision: its row, its receipt and its envelope.',
  operands: 'DECISION_ID',
  operandCount: [1, 1],
  options: [{ name: 'tenant', value: 'TENANT', help: 'Tenant of the decision; default: local.' }, ...SITE_OPTIONS],
  notes: 'With --url: the answer of GET /api/v1/decisions/{id}.\nExit codes: 0 shown, 1 there is no such decision.',
  run: async (args, io) => {
    const [id = ''] = args.operands
    const remote = remoteOf(args, io, ['tenant'])
    if (remote !== null) return printDecision(await remoteDecision(id, remote), id, io)
    const row = await withStore(args, io, (store) => store.decisions.byId(args.value('tenant') ?? 'local', id))
    if (row === null) return printDecision(null, id, io)
    const { envelope, response, statusPlace, evaluatedAt, expiresAt, ...rest } = row
    const shown: unknown = {
      ...rest,
      evaluatedAt: instant(evaluatedAt),
      expiresAt: instant(expiresAt),
      statusPlace,
      hasResponse: response !== null,
      decision_result: JSON.parse(envelope),
    }
    return printDecision(shown, id, io)
  },
}

function printDecision(shown: unknown, id: string, io: CommandIo): ExitCode {
  if (shown === null) writeLine(io.stderr, `The ledger has no decision ${id} of this tenant.`)
  else writeLine(io.stdout, JSON.stringify(shown, null, 2))
  return shown === null ? EXIT.no : EXIT.good
}

export const checkpointLedger: Command = {
  name: 'checkpoint',
  summary: 'Sign the newest entry of the ledger now, and print the token to keep elsewhere.',
  operands: '',
  operandCount: [0, 0],
  options: PLACE_OPTIONS,
  notes:
    'Keep the token outside the machine; `preflight ledger verify --checkpoint TOKEN` compares the ledger with it later.',
  run: async (args, io) => {
    const keys = await openExistingRing(args, io)
    const token = await withStore(args, io, async (store) => {
      const head = await store.ledger.head()
      if (head === null) throw new UsageError('the ledger has no chain: run `preflight ledger verify`')
      const at = Date.now()
      const signed = await signCheckpoint({ ...head, issuedAt: Math.floor(at / 1000) }, keys.signer())
      await keepCheckpoint({ ...head, at, token: signed }, checkpointFile(placeConfigOf(args, io).data_dir), store)
      await noteAct(store, io, { event: 'ledger.checkpoint', ...head, checkpoint: signed })
      return signed
    })
    writeLine(io.stdout, token)
    return EXIT.good
  },
}

export const pruneCommand: Command = {
  name: 'prune',
  summary: 'Remove decisions and calls before a time.',
  operands: '',
  operandCount: [0, 0],
  options: [
    {
      name: 'before',
      value: 'TIME',
      isRequired: true,
      help: 'Remove what is older, e.g. 2026-01-31 or 2026-01-31T12:00:00Z.',
    },
    ...SITE_OPTIONS,
  ],
  notes: [
    'The entry before the cut is signed first, so the rest of the ledger still verifies. Export the ledger before, if you need it.',
    'Kept: receipts that are still valid, the newest decision and call, baselines, approvals, keys, exceptions, bindings.',
    'It can run next to a running gateway. With --url, it needs the key of an administrator.',
  ].join('\n'),
  run: async (args, io) => {
    const before = momentOf(args, 'before') ?? 0
    const remote = remoteOf(args, io)
    const { beginnings, rows } = await during(io, 'pruning the ledger', () =>
      remote === null ? prunedHere(before, args, io) : prunedThere(before, remote),
    )
    writeLine(
      io.stdout,
      beginnings.length === 0 && rows === 0
        ? 'Nothing is old enough to be removed.'
        : `removed ${rows} rows${whereItBegins(beginnings)}`,
    )
    return EXIT.good
  },
}

type PrunedRows = Pick<Static<typeof PruneAnswer>, 'rows' | 'beginnings'>

async function prunedHere(before: number, args: Arguments, io: CommandIo): Promise<PrunedRows> {
  const keys = await openExistingRing(args, io)
  const { cuts, rows } = await withStore(args, io, async (store) => {
    const pruned = await pruneLedger(before, { store, signer: () => keys.signer(), now: Date.now })
    await noteAct(store, io, { event: 'ledger.pruned', before: instant(before), rows: pruned.rows })
    return pruned
  })
  return { beginnings: cuts.map(({ chain, sequence }) => ({ chain, sequence: sequence + 1 })), rows }
}

/** A request removes a part of a large ledger. */
async function prunedThere(before: number, gateway: GatewayClient): Promise<PrunedRows> {
  const chains = new Map<string, number>()
  const body = { before: new Date(before).toISOString() }
  for (let rows = 0; ;) {
    const answer = await gateway.ask(pruneWholeLedger, PruneAnswer, { body })
    rows += answer.rows
    for (const { chain, sequence } of answer.beginnings) chains.set(chain, sequence)
    if (answer.is_complete) return { beginnings: [...chains].map(([chain, sequence]) => ({ chain, sequence })), rows }
  }
}

/** One chain in a file; one of each gateway in a shared store. */
function whereItBegins(beginnings: PrunedRows['beginnings']): string {
  const [first, ...others] = beginnings
  if (first === undefined) return ''
  if (others.length === 0) return `; the ledger begins at entry ${first.sequence}`
  return beginnings.map(({ chain, sequence }) => `\nchain ${chain} begins at entry ${sequence}`).join('')
}

export const backupLedger: Command = {
  name: 'backup',
  summary: 'Copy the store to a file, also while a gateway serves from it.',
  operands: 'FILE',
  operandCount: [1, 1],
  options: PLACE_OPTIONS,
  notes: [
    'The copy is complete and consistent. Its newest checkpoint is written next to it, as FILE.checkpoint.jwt.',
    'The receipt keys of data_dir are not in it: copy them too. To restore: docs/operations.md#restore.',
  ].join('\n'),
  run: async (args, io) => {
    const [operand = ''] = args.operands
    const file = resolve(operand)
    const checkpoint = `${file}.checkpoint.jwt`
    for (const taken of [file, checkpoint])
      if (existsSync(taken)) throw new UsageError(`${taken} exists already; name a new file`)
    await withStore(args, io, (store) => during(io, 'copying the store', () => backUpStore(store, file)))
    const token = await checkpointOfCopy(file)
    if (token !== null) writePrivateFile(checkpoint, `${token}\n`)
    writeLine(io.stdout, `wrote ${file}${token === null ? '' : ` and ${checkpoint}`}`)
    return EXIT.good
  },
}

/** For this user only. A copy that fails leaves no part of it. */
export async function backUpStore(store: Pick<Store, 'backUp'>, file: string): Promise<void> {
  closeSync(makeTemporaryFile(file))
  try {
    await store.backUp(file)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}

/**
 * The checkpoint file of `data_dir` may be newer than the copy, and a start with both would report that the end of the ledger was
 * cut off.
 */
async function checkpointOfCopy(copy: string): Promise<string | null> {
  const held = await readLedgerFile(copy, async ({ ledger }) => {
    const head = await ledger.head()
    return head === null ? null : ledger.newestCheckpoint(head.chain)
  })
  return held?.token ?? null
}
