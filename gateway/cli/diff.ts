/** `preflight diff`: compares two contracts in this process, without a server. */
import {
  canonicalArtifactType,
  compare,
  COMPARED_TYPES,
  DEFAULT_DOCUMENT_LIMITS,
  sniffArtifactType,
  type ArtifactType,
  type CompareOptions,
  type Problem,
} from '../../engine/index.ts'
import { sha256Hex } from '../hash.ts'
import { diffReport, reaches, type DiffReport } from '../report/diff-report.ts'
import { renderMarkdown } from '../report/markdown.ts'
import { renderText } from '../report/text.ts'
import { EXIT, UsageError, type Arguments, type Command, type ExitCode } from './command.ts'
import { readSource, referencedFiles, type DocumentSource } from './documents.ts'
import { wantsColour, writeLine, type CommandIo } from './io.ts'

const FORMATS = ['text', 'json', 'markdown'] as const
const FAIL_ON = ['breaking', 'dangerous', 'none'] as const

/** Kinds that can be compared, and the short name of one. */
export const TYPE_NAMES = [...COMPARED_TYPES, 'mcp']

export const diffCommand: Command = {
  name: 'diff',
  summary: 'Compare two contracts and say what breaks.',
  operands: 'BASE HEAD',
  operandCount: [2, 2],
  options: [
    {
      name: 'type',
      value: 'TYPE',
      allowed: TYPE_NAMES,
      help: 'Kind of contract; told from the content when left out.',
    },
    { name: 'format', value: 'FORMAT', allowed: FORMATS, help: 'How to write the result; text unless told.' },
    {
      name: 'fail-on',
      value: 'LEVEL',
      allowed: FAIL_ON,
      help: 'Exit 1 when this level or worse is found; breaking unless told.',
    },
    { name: 'limit', value: 'N', help: 'Findings in the json form at the most; 5000 unless told.' },
  ],
  notes: [
    'BASE and HEAD: a file, - for standard input, or <ref>:<path> in the git repository here.',
    'Files that a document names by relative $ref are read too.',
    '',
    'Examples:',
    '  preflight diff old.yaml new.yaml',
    '  preflight diff main:api/openapi.yaml api/openapi.yaml --fail-on dangerous',
    '',
    'Exit codes: 0 nothing at that level, 1 something found, 2 usage or unreadable document, 3 could not compare.',
  ].join('\n'),
  run: runDiff,
}

async function runDiff(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [base, head] = await readBoth(args.operands, io)
  const limit = positiveInteger(args, 'limit', 5000)
  const type = artifactType(args, base, head)
  const options: CompareOptions = {
    limits: DEFAULT_DOCUMENT_LIMITS,
    today: new Date().toISOString().slice(0, 10),
    files: { base: await referencedFiles(base), head: await referencedFiles(head) },
  }
  const result = compare({ id: 'diff', type, before: base.text, after: head.text }, options, sha256Hex)
  if (!result.ok) return refuse(result.problem, io)
  const report = diffReport(result.value, limit)
  io.stdout.write(rendered(report, args.value('format') ?? 'text', { base: base.name, head: head.name }, io))
  const failOn = args.value('fail-on') ?? 'breaking'
  const level = failOn === 'breaking' || failOn === 'dangerous' ? failOn : null
  return level !== null && reaches(report, level) ? EXIT.no : EXIT.good
}

async function readBoth(
  operands: readonly string[],
  io: CommandIo,
): Promise<readonly [DocumentSource, DocumentSource]> {
  const [base = '', head = ''] = operands
  if (base === '-' && head === '-') throw new UsageError('only one side can come from standard input')
  return [await readSource(base, io), await readSource(head, io)]
}

function artifactType(args: Arguments, base: DocumentSource, head: DocumentSource): ArtifactType {
  const named = canonicalArtifactType(args.value('type') ?? '')
  if (named !== null) return named
  const sniffed = sniffArtifactType(base.text, head.text)
  if (sniffed.ok) return sniffed.value
  const { code, message, line, column } = sniffed.problem
  const place = line === undefined ? '' : ` (line ${line}, column ${column ?? 1})`
  throw new UsageError(`${message}${place}${code === 'UNSUPPORTED_ARTIFACT_TYPE' ? ' Name the kind with --type' : ''}`)
}

function rendered(
  report: DiffReport,
  format: string,
  names: { readonly base: string; readonly head: string },
  io: CommandIo,
): string {
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`
  return format === 'markdown' ? renderMarkdown(report) : renderText(report, { isColoured: wantsColour(io), names })
}

/** Documents that cannot be read are the user's to mend; a fault of ours is not. */
function refuse({ code, message, pointer, line, column }: Problem, io: CommandIo): ExitCode {
  const place = line === undefined ? '' : ` (line ${line}, column ${column ?? 1})`
  writeLine(io.stderr, `preflight diff: ${message}${place}${pointer ? ` at ${pointer}` : ''}`)
  return code.startsWith('ANALYSIS_') ? EXIT.undecided : EXIT.usage
}

/** Throws a UsageError on anything but a positive integer. */
export function positiveInteger(args: Arguments, name: string, fallback: number): number {
  const text = args.value(name)
  if (text === undefined) return fallback
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new UsageError(`--${name} takes a positive whole number, not ${JSON.stringify(text)}`)
}
