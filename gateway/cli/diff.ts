/** `preflight diff`: compares two contracts in this process, without a server. */
import {
  canonicalArtifactType,
  compare,
  ARTIFACT_TYPES,
  DEFAULT_DOCUMENT_LIMITS,
  LEVELS,
  ok,
  sniffArtifactType,
  type ArtifactType,
  type CompareOptions,
  type Problem,
  type Result,
} from '../../engine/internal.ts'
import { formatMistake, placedMessage } from '../errors/mistake.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { packageVersion } from '../runtime/package-files.ts'
import { diffReport, incompleteLine, reaches } from '../report/diff-report.ts'
import { ignoreFindings, type IgnoreEntry } from '../report/ignore-list.ts'
import { printable } from '../report/printable.ts'
import { renderReport, REPORT_FORMS } from '../report/report.ts'
import {
  EXIT,
  QUIET,
  InputError,
  UsageError,
  type Arguments,
  type Command,
  type ExitCode,
  positiveInteger,
} from './command.ts'
import { COMPARE_OPTIONS, compareOptionsOf } from './diff-options.ts'
import { filesOf, readSource, type DocumentSource, withImports } from './documents.ts'
import { wantsColour, writeLine, type CommandIo } from './io.ts'

const FAIL_ON = ['breaking', 'dangerous', 'none'] as const

/** Kinds that can be compared, and short names of two of them. */
export const TYPE_NAMES = [...ARTIFACT_TYPES, 'grpc', 'mcp']

export const diffCommand: Command = {
  name: 'diff',
  summary: 'Compare two contracts and list what breaks.',
  operands: 'BASE HEAD',
  operandCount: [2, 2],
  options: [
    {
      name: 'type',
      value: 'TYPE',
      allowed: TYPE_NAMES,
      help: 'Kind of contract; default: detected from the content.',
    },
    { name: 'format', value: 'FORMAT', allowed: REPORT_FORMS, help: 'Output format; default: text.' },
    {
      name: 'fail-on',
      value: 'LEVEL',
      allowed: FAIL_ON,
      help: 'Exit 1 when this level or worse is found; default: breaking.',
    },
    { name: 'ignore', value: 'FILE', help: 'Ignore list of accepted findings (see below).' },
    { name: 'limit', value: 'N', help: 'Maximum number of findings in json; default: 5000.' },
    QUIET,
    ...COMPARE_OPTIONS,
  ],
  notes: [
    'BASE and HEAD: a file, - for standard input, an http(s) address, or <ref>:<path> in the current git repository.',
    'A folder, on disk or at a ref, stands for the .proto files in it.',
    'Files that a document names by $ref are read too: beside a file or at the same ref, or from the origin of an address.',
    'So are imports of a .proto file: from its folder and those above, up to the working directory or at the same ref.',
    '',
    'Examples:',
    '  preflight diff old.yaml new.yaml',
    '  preflight diff main:api/openapi.yaml api/openapi.yaml --fail-on dangerous',
    '  preflight diff main:api/openapi.yaml api/openapi.yaml --format sarif > preflight.sarif',
    '',
    'An ignore list is YAML. A finding must match all members of an entry. Entries that match nothing, or whose',
    'last day has passed, are reported on standard error:',
    '  ignore:',
    '    - rule: api-path-removed-without-deprecation',
    '      path: /v1/legacy            # also: method, tool, location (a JSON Pointer or one above), fingerprint',
    '      expires: 2027-01-31         # optional: the last day on which the entry holds',
    '      reason: no calls in the access log since May',
    '',
    'Exit codes: 0 no finding at that level, 1 findings, 2 usage or unreadable document, 3 could not compare, or a',
    'document refers to a missing file, so that not everything was compared.',
  ].join('\n'),
  run: runDiff,
}

async function runDiff(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const limit = positiveInteger(args, 'limit', 5000)
  const stated = compareOptionsOf(args)
  const entries = await ignoreEntries(args)
  const named = await readBoth(args.operands, io)
  noteEmpty(named, io)
  const sniffed = artifactType(args, ...named)
  if (!sniffed.ok) return refuseDocument(sniffed.problem, named, io)
  const type = sniffed.value
  const [base, head] = type === 'protobuf' ? await withImports(...named) : named
  const today = new Date().toISOString().slice(0, 10)
  const options: CompareOptions = {
    ...stated,
    limits: DEFAULT_DOCUMENT_LIMITS,
    today,
    files: { base: await filesOf(base), head: await filesOf(head) },
  }
  const result = compare({ id: 'diff', type, before: base.text, after: head.text }, options, sha256Hex)
  if (!result.ok) return refuseDocument(result.problem, [base, head], io)
  const { comparison, ignored, stale } = ignoreFindings(result.value, entries, today)
  for (const entry of stale) writeLine(io.stderr, `preflight diff: ${staleText(entry, today)}`)
  const report = diffReport(comparison, limit)
  const failOn = LEVELS.find((level) => level === (args.value('fail-on') ?? 'breaking')) ?? null
  const form = REPORT_FORMS.find((known) => known === args.value('format')) ?? 'text'
  const documents = { base, head }
  const context = { report, documents, ignored, failOn, isColoured: wantsColour(io), version: packageVersion() }
  if (!args.flag('quiet')) io.stdout.write(renderReport(form, context))
  if (failOn !== null && reaches(report, failOn)) return EXIT.no
  const incomplete = incompleteLine(report)
  if (incomplete === null) return EXIT.good
  writeLine(io.stderr, `preflight diff: ${printable(incomplete)}`)
  return EXIT.undecided
}

async function ignoreEntries(args: Arguments): Promise<readonly IgnoreEntry[]> {
  const file = args.value('ignore')
  if (file === undefined) return []
  const { readIgnoreFile } = await import('../report/ignore-file.ts')
  const entries = readIgnoreFile(file)
  if (entries.ok) return entries.value
  throw new InputError(`the ignore list has mistakes:\n${entries.problem.map(formatMistake).join('\n')}`)
}

function staleText({ place, reason, expires }: IgnoreEntry, today: string): string {
  const why = expires !== undefined && expires < today ? `was valid until ${expires}` : 'matches no finding'
  return printable(`${place}: the entry ${why}; remove it (its reason was: ${reason})`)
}

async function readBoth(
  operands: readonly string[],
  io: CommandIo,
): Promise<readonly [DocumentSource, DocumentSource]> {
  const [base = '', head = ''] = operands
  if (base === '-' && head === '-') throw new UsageError('only one side can come from standard input')
  return [await readSource(base, io), await readSource(head, io)]
}

/** An empty text is a contract that is not there. A command in front of the pipe that failed leaves the same. */
function noteEmpty([base, head]: readonly [DocumentSource, DocumentSource], io: CommandIo): void {
  const [side, effect] = base.text === '' ? ['BASE', 'added'] : head.text === '' ? ['HEAD', 'removed'] : []
  if (side !== undefined)
    writeLine(io.stderr, `preflight diff: ${side} is empty, so the whole contract counts as ${effect}`)
}

function artifactType(args: Arguments, base: DocumentSource, head: DocumentSource): Result<ArtifactType> {
  const named = canonicalArtifactType(args.value('type') ?? '')
  if (named !== null) return ok(named)
  const sniffed = sniffArtifactType(base.text, head.text)
  if (!sniffed.ok && sniffed.problem.code === 'UNSUPPORTED_ARTIFACT_TYPE')
    throw new UsageError(`${sniffed.problem.message.replace(/\.$/, '')} (--type TYPE).`)
  return sniffed
}

/** A document that cannot be read is the user's mistake; a fault of the gateway is not. */
function refuseDocument(
  problem: Problem,
  [base, head]: readonly [DocumentSource, DocumentSource],
  io: CommandIo,
): ExitCode {
  const { code, message } = problem
  const names: Readonly<Record<string, string>> = { base: base.name, head: head.name }
  const named = message.replace(/^The (base|head)(?: document)?/, (side, word: string) => `${side} ${names[word]}`)
  writeLine(io.stderr, printable(`preflight diff: ${placedMessage({ ...problem, message: named })}`))
  return code.startsWith('ANALYSIS_') ? EXIT.undecided : EXIT.usage
}
