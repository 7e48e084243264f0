/** `preflight preflight`: requests a risk analysis, or a decision with a receipt, on a change that is read from files. */
import { lookupTable } from '../../engine/base.ts'
import { randomUUID } from 'node:crypto'
import { basename, resolve } from 'node:path'
import {
  canonicalArtifactType,
  EMPTY_CONTEXT,
  sniffArtifactType,
  type Artifact,
  type ArtifactFiles,
} from '../../engine/internal.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { variable } from '../settings/environment.ts'
import { writePrivateFile } from '../runtime/private-file.ts'
import { statsOf } from '../runtime/regular-file.ts'
import { printable } from '../report/printable.ts'
import { fetchFailure } from '../errors/startup-error.ts'
import {
  columns,
  EXIT,
  InputError,
  UsageError,
  type Arguments,
  type Command,
  type ExitCode,
  CONTEXT_OPTIONS,
  statedContext,
} from './command.ts'
import { CONFIG_OPTION } from './config-option.ts'
import { TYPE_NAMES } from './diff.ts'
import { filesOf, readSource, jsonOf, textFile, withImports } from './documents.ts'
import { LIST_FORMAT, show } from './format.ts'
import { gatewayAt } from './gateway-client.ts'
import type { CommandIo } from './io.ts'
import { ASK_FOR_KEY } from './remote.ts'
import { sessionAt } from './session-file.ts'
import { isJsonObject } from '../json/strict-json.ts'

const DEFAULT_URL = 'http://127.0.0.1:15081'

export const preflightCommand: Command = {
  name: 'preflight',
  summary: 'Analyze a change of contracts, or get a decision with a receipt for one operation.',
  operands: '[BEFORE AFTER]',
  operandCount: [0, 2],
  options: [
    {
      name: 'mode',
      value: 'MODE',
      allowed: ['analyze', 'authorize'],
      isRequired: true,
      help: 'Risk only, or a decision with a receipt.',
    },
    {
      name: 'change-set',
      value: 'FILE',
      help: 'JSON file with "artifacts": [{ id, type, before, after, path?, files? }], instead of BEFORE AFTER.',
    },
    {
      name: 'type',
      value: 'TYPE',
      allowed: TYPE_NAMES,
      help: 'Kind of contract; default: detected from the content.',
    },
    { name: 'id', value: 'ID', help: 'Id of the artifact; default: the file name of AFTER.' },
    ...CONTEXT_OPTIONS.map(({ name, help }) => ({ name, value: 'VALUE', help })),
    {
      name: 'url',
      value: 'URL',
      help: `Address of the gateway; default: PREFLIGHT_URL, else ${DEFAULT_URL}. The key is in PREFLIGHT_API_KEY, else the session of preflight login.`,
    },
    { name: 'local', help: 'Analyze in this process, without a gateway, with the policy of the configuration.' },
    { name: 'receipt', value: 'FILE', help: 'Write the receipt to this file.' },
    LIST_FORMAT,
    CONFIG_OPTION,
  ],
  notes: [
    'BEFORE and AFTER: a file, - for standard input, an http(s) address, or <ref>:<path> in the current git repository.',
    'Files that a document names by $ref, and imports of a .proto file, are sent with it.',
    'Exit codes: 0 no break found, or the operation may proceed; 1 breaks found, or it may not; 2 usage; 3 could not decide.',
  ].join('\n'),
  run: runPreflight,
}

async function runPreflight(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const mode = args.value('mode') ?? 'analyze'
  if (mode === 'authorize' && args.value('operation') === undefined)
    throw new UsageError('--operation is required to authorize')
  if (mode === 'authorize' && args.flag('local'))
    throw new UsageError('--local can only analyze: a receipt needs the key of a gateway')
  const artifacts = await readArtifacts(args, io)
  const answer = args.flag('local') ? await analyzeHere(artifacts, args, io) : await askMode(mode, artifacts, args, io)
  if (!isJsonObject(answer)) throw new Error('the answer is not a JSON object')
  const receiptFile = args.value('receipt')
  if (receiptFile !== undefined && typeof answer['chain_receipt'] === 'string')
    writeReceipt(receiptFile, answer['chain_receipt'])
  show(args, io, answer, preflightText)
  return exitCode(answer)
}

/** Written as a new file of this user: a link is not followed, and wider rights of an existing file are not kept. */
export function writeReceipt(file: string, token: string): void {
  const found = statsOf(file)
  if (found !== null && !found.isFile())
    throw new UsageError(`--receipt ${file} is not a regular file; name another one`)
  writePrivateFile(resolve(file), `${token}\n`)
}

async function readArtifacts(args: Arguments, io: CommandIo): Promise<readonly unknown[]> {
  const file = args.value('change-set')
  if (file === undefined) return [await readArtifact(args, io)]
  if (args.operands.length > 0) throw new UsageError('give either BEFORE AFTER or --change-set')
  const changeSet: unknown = jsonOf(textFile(file), file)
  const artifacts = isJsonObject(changeSet) ? changeSet['artifacts'] : changeSet
  if (!Array.isArray(artifacts)) throw new InputError(`${file} has no list "artifacts"`)
  return artifacts
}

async function readArtifact(args: Arguments, io: CommandIo): Promise<Artifact> {
  const [before, after] = args.operands
  if (before === undefined || after === undefined) throw new UsageError('give BEFORE AFTER, or --change-set FILE')
  const sources = [await readSource(before, io), await readSource(after, io)] as const
  const named = canonicalArtifactType(args.value('type') ?? '')
  const type =
    named === null ? sniffArtifactType(sources[0].text, sources[1].text) : { ok: true as const, value: named }
  if (!type.ok) throw new UsageError(`${type.problem.message} Name the kind with --type`)
  const [base, head] = type.value === 'protobuf' ? await withImports(...sources) : sources
  const files = bothSides(await filesOf(base), await filesOf(head))
  return {
    id: args.value('id') ?? basename(head.name),
    type: type.value,
    before: base.text,
    after: head.text,
    ...(Object.keys(files).length > 0 && { files }),
  }
}

function fileText(files: Readonly<Record<string, string>>, path: string): string | undefined {
  return Object.hasOwn(files, path) ? files[path] : undefined
}

/** By path from the document: a file that only one side refers to is absent on the other. */
export function bothSides(
  base: Readonly<Record<string, string>>,
  head: Readonly<Record<string, string>>,
): ArtifactFiles {
  const paths = [...new Set([...Object.keys(base), ...Object.keys(head)])].toSorted()
  return Object.fromEntries(
    paths.map((path) => {
      const [before, after] = [fileText(base, path), fileText(head, path)]
      return [path, { ...(before !== undefined && { before }), ...(after !== undefined && { after }) }] as const
    }),
  )
}

/** Throws an Error with the gateway's message when it returns an error, which is never a decision. */
function askMode(mode: string, artifacts: readonly unknown[], args: Arguments, io: CommandIo): Promise<unknown> {
  return askGateway({ preflight_mode: mode, artifacts, context: statedContext(args) }, args.value('url'), io)
}

/** The body of a request to the API. */
interface PreflightBody {
  readonly preflight_mode: string
  readonly artifacts: readonly unknown[]
  readonly context: Readonly<Record<string, unknown>>
}

/** Throws an Error with the gateway's message when it returns an error. @param address else PREFLIGHT_URL */
export async function askGateway(
  request: PreflightBody,
  address: string | undefined,
  { environment }: CommandIo,
): Promise<Readonly<Record<string, unknown>>> {
  const { origin } = gatewayAt(address ?? variable(environment, 'PREFLIGHT_URL') ?? DEFAULT_URL)
  const key = variable(environment, 'PREFLIGHT_API_KEY') ?? sessionAt(environment, origin)?.key
  if (key === undefined)
    throw new UsageError(
      'PREFLIGHT_API_KEY is not set; make a key with preflight keys create --name NAME, or sign in with preflight login',
    )
  const url = new URL('/api/v1/preflight', origin)
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
  } catch (error) {
    throw new Error(
      `no gateway answers at ${origin}: ${fetchFailure(error)}. Check --url, and that the gateway serves`,
      {
        cause: error,
      },
    )
  }
  if (response.status === 401) throw new InputError(`${origin} does not accept the key. ${ASK_FOR_KEY}`)
  const answer = jsonOf(await response.text(), origin)
  if (response.ok && isJsonObject(answer)) return answer
  throw new Error(`${origin} answered ${response.status}: ${errorText(answer)}`)
}

/** The same analysis and answer as the API's, without recording or signing. */
async function analyzeHere(artifacts: readonly unknown[], args: Arguments, io: CommandIo): Promise<unknown> {
  const { analyzeLocally } = await import('./local-analysis.ts')
  const context = { ...EMPTY_CONTEXT, ...statedContext(args) }
  return analyzeLocally({ artifacts, context, correlationId: randomUUID() }, args, io)
}

const EXITS: Readonly<Record<string, ExitCode>> = lookupTable({
  NO_BREAK_DETECTED: EXIT.good,
  BREAKS_DETECTED: EXIT.no,
  CONTINUE: EXIT.good,
  CONTINUE_WITH_MONITORING: EXIT.good,
  REQUEST_APPROVAL: EXIT.no,
  STOP: EXIT.no,
})

/** An unknown outcome is not a permission. */
function exitCode(answer: Readonly<Record<string, unknown>>): ExitCode {
  const outcome = String(answer['execution_action'] ?? answer['analysis_outcome'])
  return Object.hasOwn(EXITS, outcome) ? (EXITS[outcome] ?? EXIT.undecided) : EXIT.undecided
}

function preflightText(answer: Readonly<Record<string, unknown>>): string {
  const { human_report: report, decision_result: result } = answer
  const envelope = recordIn(result)
  const rows = [
    ['outcome', answer['execution_action'] ?? answer['analysis_outcome']],
    ['decision', answer['decision']],
    ['id', envelope['decision_id']],
    ['expires', envelope['expires_at']],
    ['risk', answer['risk_score']],
    ['breaking', answer['breaking_changes']],
    ['patterns', Array.isArray(answer['patterns']) ? answer['patterns'].join(', ') : undefined],
  ] as const
  const shown = rows.flatMap(([name, value]) =>
    value === undefined || value === null || value === ''
      ? []
      : [[name, printable(typeof value === 'string' ? value : JSON.stringify(value))] as const],
  )
  return [...(isJsonObject(report) ? reportLines(report) : []), ...columns(shown)].join('\n')
}

function reportLines(report: Readonly<Record<string, unknown>>): readonly string[] {
  const sections = ['breaking_highlights', 'suggestions', 'next_steps'] as const
  const lists = sections.flatMap((name) => {
    const items: unknown = report[name]
    return Array.isArray(items) && items.length > 0
      ? [`${name.replaceAll('_', ' ')}:`, ...items.map((item) => `  - ${printable(String(item))}`)]
      : []
  })
  return [...(typeof report['summary'] === 'string' ? [printable(report['summary'])] : []), ...lists, '']
}

function errorText(answer: unknown): string {
  if (!isJsonObject(answer)) return 'the answer has no error in the form of the API'
  const details: unknown = answer['details']
  const places = Array.isArray(details)
    ? details
        .filter(isJsonObject)
        .map(({ pointer, message }) => `\n  ${printable(`${String(pointer)}: ${String(message)}`)}`)
    : []
  return `${printable(String(answer['error']))}: ${printable(String(answer['message']))}${places.join('')}`
}
