/**
 * `preflight ledger verify` and `accept`: checks that the ledger is complete and unchanged, and accepts another ledger in its
 * place.
 */
import { existsSync, rmSync } from 'node:fs'
import type { KeySet } from '../../engine/internal.ts'
import { keyFile, readKeyFile } from '../keys/key-file.ts'
import { systemClock } from '../keys/key-ring.ts'
import { verificationKeys } from '../keys/jwks.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import { readCheckpoint, checkpointFile } from '../store/checkpoints.ts'
import { continuityProblem, isFreshLedger } from '../store/opening/continuity.ts'
import { ledgerFile, storePlace } from '../store/opening/open.ts'
import type { CheckpointRow, LedgerHead, SignedCut } from '../store/ledger.ts'
import type { StorePart } from '../store/store.ts'
import { verifyExportFile, verifyRemote } from './ledger-keep.ts'
import { EXIT, QUIET, UsageError, type Arguments, type Command } from './command.ts'
import { configOf, PLACE_OPTIONS, placeConfigOf } from './config-option.ts'
import { noteAct, requirePath, withAnyStore, withStore } from './data-directory.ts'
import { textFile } from './documents.ts'
import { LIST_FORMAT } from './format.ts'
import { writeLine, type CommandIo, during } from './io.ts'
import { localUser, remoteOf, SITE_OPTIONS } from './remote.ts'

interface LedgerCheck {
  readonly whole: boolean
  readonly chains: readonly CheckedChain[]
  readonly checkpoints: number
  readonly faults: readonly string[]
}

interface CheckedChain {
  readonly chain: string
  readonly entries: number
  readonly hash: string
  /** The first entry, decision and call that were not removed; null: nothing was. */
  readonly begins: { readonly entry: number; readonly decision: number; readonly call: number } | null
}

export const verifyLedger: Command = {
  name: 'verify',
  summary: 'Check the whole ledger: decisions, receipts, calls, approvals, baselines, keys, and signed checkpoints.',
  operands: '',
  operandCount: [0, 0],
  options: [
    {
      name: 'checkpoint',
      value: 'TOKEN|FILE',
      isRepeatable: true,
      help: 'A checkpoint stored elsewhere (a token from the log, or a file of tokens); the ledger must contain it.',
    },
    {
      name: 'export',
      value: 'FILE',
      help: 'Check an export in place of the store; needs --keys. Nothing else is read.',
    },
    {
      name: 'keys',
      value: 'FILE',
      help: 'Key set for --export and --url: the answer of /.well-known/jwks.json; with --url, default: as the gateway publishes it.',
    },
    LIST_FORMAT,
    QUIET,
    ...SITE_OPTIONS,
  ],
  notes: [
    'With --url, the export of a running gateway is checked here; it needs the key of an administrator.',
    'Finds rows that were changed, removed, added or moved, a truncated chain, and a replaced ledger.',
    'Entries after the last checkpoint can be removed without a trace; keep checkpoints from the log elsewhere.',
    '',
    'Exit codes: 0 intact, 1 not intact, 2 usage, 3 it could not be read.',
  ].join('\n'),
  run: async (args, io) => {
    const file = args.value('export')
    if (file !== undefined) return verifyExportFile(file, args, io)
    const remote = remoteOf(args, io)
    if (remote !== null && args.values('checkpoint').length > 0)
      throw new UsageError('--checkpoint is for a data directory; export the ledger and verify it there')
    if (remote !== null) return verifyRemote(remote, args, io)
    const check = await during(io, 'verifying the ledger', () => checkLedger(args, io))
    if (args.flag('quiet')) return check.whole ? EXIT.good : EXIT.no
    if (args.value('format') === 'json') writeLine(io.stdout, JSON.stringify(check, null, 2))
    else report(check, io)
    return check.whole ? EXIT.good : EXIT.no
  },
}

export const acceptLedger: Command = {
  name: 'accept',
  summary: 'Accept a ledger that is new, or is not the one that was last signed.',
  operands: '',
  operandCount: [0, 0],
  options: [
    { name: 'reason', value: 'TEXT', isRequired: true, help: 'The reason; its digest is stored in the ledger.' },
    ...PLACE_OPTIONS,
  ],
  notes: [
    'Used or revoked receipts may become valid again: where that matters, first rotate and revoke the receipt key.',
    'The next start uses the clock of the machine, also if the gateway has had a later time.',
    'Approvals, exceptions, delegations and keys with an end that were made at a later time than now end.',
  ].join('\n'),
  run: async (args, io) => {
    const reason = args.value('reason') ?? ''
    if (reason.trim() === '') throw new UsageError('--reason is empty; give the reason')
    await withAnyStore(args, io, async (store) => {
      await store.ledger.accept(localUser(), reason, Date.now())
      await noteAct(store, io, { event: 'ledger.accepted', reason })
    })
    rmSync(checkpointFile(configOf(args, io).data_dir), { force: true })
    writeLine(io.stdout, `accepted ${storePlace(configOf(args, io))}`)
    return EXIT.good
  },
}

async function checkLedger(args: Arguments, io: CommandIo): Promise<LedgerCheck> {
  const config = placeConfigOf(args, io)
  const file = ledgerFile(config)
  if (file !== null) requirePath(file, `there are no records at ${file}`)
  const tokens = [...keptElsewhere(args), ...newestOf(checkpointFile(config.data_dir))]
  if (isFreshLedger(config))
    return {
      whole: false,
      chains: [],
      checkpoints: 0,
      faults: [`The ledger ${file} is empty (0 bytes).`],
    }
  const own = readKeyFile(keyFile(config.data_dir))
  const keys = verificationKeys(own ?? [], systemClock())
  return withStore(args, io, async (store) => {
    const { heads, faults, checkpoints, cuts } = await store.ledger.inspect()
    const broken = await store.ledger.verifyChain()
    // Checks that would stop a start; a copy without its keys has no checkpoint file either.
    const continuity = own === null ? null : await continuityProblem(config, store, { keySet: () => keys })
    const all = [
      ...(continuity === null ? [] : [continuity]),
      ...(broken === null
        ? []
        : [`The decision at row ${broken}, or the one before it, was changed, removed or moved.`]),
      ...faults,
      ...[...checkpoints, ...cuts].flatMap((row) => signatureFaults(row, keys)),
      ...(await Promise.all(tokens.map((token) => tokenFault(token, keys, cuts, store)))).flat(),
    ]
    return {
      whole: all.length === 0,
      chains: heads.map(({ chain, sequence, hash }) => ({
        chain,
        entries: sequence,
        hash,
        begins: beginningOf(cuts.find((cut) => cut.chain === chain)),
      })),
      checkpoints: checkpoints.length,
      faults: all,
    }
  })
}

function beginningOf(cut: SignedCut | undefined): CheckedChain['begins'] {
  return cut === undefined ? null : { entry: cut.sequence + 1, decision: cut.decision + 1, call: cut.call + 1 }
}

/** Whether the row equals the signed checkpoint. Keys of another directory prove nothing about it. */
function signatureFaults({ token, chain, sequence, hash }: CheckpointRow, keys: KeySet): readonly string[] {
  const read = readCheckpoint(token, keys)
  if (!read.ok) return read.isForged ? [`The checkpoint of entry ${sequence} is forged: ${read.problem}.`] : []
  const { checkpoint } = read
  const isSame = checkpoint.chain === chain && checkpoint.sequence === sequence && checkpoint.hash === hash
  return isSame
    ? []
    : [`The checkpoint of entry ${sequence} was changed: it was signed for entry ${checkpoint.sequence}.`]
}

async function tokenFault(
  token: string,
  keys: KeySet,
  cuts: readonly LedgerHead[],
  store: StorePart<'ledger.entryHash'>,
): Promise<readonly string[]> {
  const read = readCheckpoint(token, keys)
  if (!read.ok) return [`A stored checkpoint cannot be checked: ${read.problem}.`]
  const { chain, sequence, hash, issuedAt } = read.checkpoint
  // What was signed before the cut went with it.
  if (cuts.some((cut) => cut.chain === chain && sequence < cut.sequence)) return []
  const found = await store.ledger.entryHash(chain, sequence)
  if (found === hash) return []
  const at = new Date(issuedAt * 1000).toISOString()
  return [
    found === null
      ? `The ledger does not contain entry ${sequence} of the chain ${chain}, which was signed at ${at}: its end was cut off, or it was replaced.`
      : `Entry ${sequence} of the chain ${chain} is not the one that was signed at ${at}.`,
  ]
}

function keptElsewhere(args: Arguments): readonly string[] {
  return args.values('checkpoint').flatMap((value) => (existsSync(value) ? receiptTokens(textFile(value)) : [value]))
}

function newestOf(file: string): readonly string[] {
  return existsSync(file) ? receiptTokens(readRegularFile(file, 'utf8')) : []
}

/** One token a line; of log lines, the token in them. */
function receiptTokens(text: string): readonly string[] {
  return text.match(/[\w-]+\.[\w-]+\.[\w-]{86}/g) ?? []
}

function report({ whole, chains, checkpoints, faults }: LedgerCheck, io: CommandIo): void {
  for (const { chain, entries, hash } of chains)
    writeLine(io.stdout, `chain ${chain}: ${entries} entries, head ${hash}`)
  writeLine(io.stdout, `${checkpoints} checkpoint${checkpoints === 1 ? '' : 's'}`)
  for (const { chain, begins } of chains) {
    if (begins === null) continue
    const what = chains.length === 1 ? 'the ledger' : `the chain ${chain}`
    writeLine(
      io.stdout,
      `pruned: ${what} begins at entry ${begins.entry}, decision ${begins.decision}, call ${begins.call}`,
    )
  }
  for (const fault of faults) writeLine(io.stderr, fault)
  if (whole) writeLine(io.stdout, 'The ledger is intact.')
  else writeLine(io.stderr, 'The ledger is not intact.')
}
