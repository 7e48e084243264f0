/**
 * `preflight ci`: compares the contracts of a pull request with its base, in a pipeline. Contracts are found by the selector;
 * the exit code is that of the policy.
 */
import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  EMPTY_CONTEXT,
  type Artifact,
  type CompletenessFacts,
  type DecisionContext,
  type Verdict,
} from '../../engine/internal.ts'
import type { Settings } from '../config/schema.ts'
import type { Flow, UnreadableArtifact } from '../flow/flow.ts'
import { packageVersion } from '../runtime/package-files.ts'
import { makeDirectory } from '../runtime/private-file.ts'
import { renderCodeQuality } from '../report/code-quality.ts'
import { diffReport } from '../report/diff-report.ts'
import { markdownCode } from '../report/printable.ts'
import { renderReport, type ReportForm } from '../report/report.ts'
import type { ReportContext } from '../report/annotation.ts'
import { deriveChangeSet, derivedCompleteness } from '../scm/derivation.ts'
import { derivationTerms } from '../scm/selector.ts'
import { openLocalRepository } from '../scm/local-repository.ts'
import { ScmError } from '../scm/scm-error.ts'
import { variable } from '../settings/environment.ts'
import { MARKER, pipelinePlace, type PipelinePlace } from './ci-platform.ts'
import { EXIT, QUIET, InputError, UsageError, type Arguments, type Command, type ExitCode } from './command.ts'
import { CONFIG_OPTION, configSource } from './config-option.ts'
import { writeLine, type CommandIo, openProgress, type Progress } from './io.ts'
import { openLocalFlow } from './local-analysis.ts'
import { messageOf } from '../errors/startup-error.ts'
import { askGateway, writeReceipt } from './preflight.ts'

export const ciCommand: Command = {
  name: 'ci',
  summary: 'Compare the contracts of a pull request with its base, in a pipeline.',
  operands: '',
  operandCount: [0, 0],
  options: [
    { name: 'base', value: 'REF', help: 'Commit or branch to compare with; default: that of the pull request.' },
    {
      name: 'head',
      value: 'REF',
      help: 'Commit or branch of the change; default: that of the pull request, else HEAD.',
    },
    { name: 'markdown', value: 'FILE', help: 'Write the report as Markdown.' },
    { name: 'sarif', value: 'FILE', help: 'Write the findings as SARIF.' },
    { name: 'junit', value: 'FILE', help: 'Write the findings as JUnit XML.' },
    { name: 'code-quality', value: 'FILE', help: 'Write the findings as a Code Quality report of GitLab.' },
    { name: 'comment', help: 'Comment on the pull request once, and update that comment.' },
    { name: 'status', help: 'Set the status of the commit.' },
    {
      name: 'authorize',
      help: 'Get a decision for merge from the gateway at PREFLIGHT_URL; its answer is the exit code.',
    },
    { name: 'receipt', value: 'FILE', help: 'Write the receipt of --authorize to this file.' },
    QUIET,
    CONFIG_OPTION,
  ],
  notes: [
    'Knows GitHub Actions, GitLab CI and Bitbucket Pipelines by their variables. Tokens: GITHUB_TOKEN, GITLAB_TOKEN, BITBUCKET_TOKEN.',
    'Contracts are found by scm.contracts of the configuration; the policy is that of the configuration.',
    'Exit codes: 0 the policy allows the change, 1 it does not, 2 usage, 3 could not decide.',
  ].join('\n'),
  run: runCi,
}

interface PipelineChange {
  readonly artifacts: readonly Artifact[]
  readonly unreadable: readonly UnreadableArtifact[]
  readonly completeness: CompletenessFacts
  readonly problem: string | null
  readonly base: string
  readonly head: string
}

interface PipelineOutcome {
  readonly code: ExitCode
  /** Of the decision that the code follows. */
  readonly summary: string
}

interface PipelineReport {
  readonly place: PipelinePlace
  /** In Markdown. */
  readonly text: string
  readonly outcome: PipelineOutcome
}

async function runCi(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const place = pipelinePlace(io.environment)
  const { settings, flow } = openLocalFlow(configSource(args, io))
  try {
    const change = await pipelineChange(args, place, settings(), flow)
    const context = pipelineContext(place, change)
    const { verdict } = await flow.analyze({ ...change, context, scope: null })
    const progress = openProgress(io)
    const contexts = await contextsOf(change.artifacts, flow, settings(), progress)
    progress.end()
    writeFiles(args, contexts)
    const judged: PipelineOutcome = {
      code: pipelineExit(verdict, change),
      summary: `${verdict.decision}: ${verdict.summary}`,
    }
    const outcome = args.flag('authorize') ? await authorizedOutcome(args, io, change, context) : judged
    const text = markdownOf(verdict, contexts, change, outcome === judged ? null : outcome)
    const report = { place, text, outcome }
    writeOutputs(args, io, report, contexts)
    await publish(args, io, report)
    return outcome.code
  } finally {
    await flow.close()
  }
}

async function pipelineChange(
  args: Arguments,
  place: PipelinePlace,
  settings: Settings,
  flow: Flow,
): Promise<PipelineChange> {
  const repository = openLocalRepository('.')
  const baseRef = args.value('base') ?? place.base
  if (baseRef === null) throw new UsageError('there is no pull request here; name the base with --base')
  try {
    const base = await repository.commitOf(baseRef)
    const head = await repository.commitOf(args.value('head') ?? place.head)
    const terms = derivationTerms(settings.config, flow)
    const question = { base, head, kind: 'merge', trialMerge: null } as const
    const derived = { ...(await deriveChangeSet(repository, question, terms)), derivation: null }
    const { artifacts, unreadable, problem } = derived
    const completeness = derivedCompleteness(derived, null)
    return { artifacts, unreadable, completeness, problem: problem?.message ?? null, base, head }
  } catch (error) {
    if (error instanceof ScmError) throw new InputError(error.message)
    throw error
  }
}

function pipelineContext(
  { repository, branch, pullRequest }: PipelinePlace,
  { base, head }: PipelineChange,
): DecisionContext {
  return { ...EMPTY_CONTEXT, operation: 'merge', repository, branch, pull_request: pullRequest, base, head }
}

const LISTED = 5000

async function contextsOf(
  artifacts: readonly Artifact[],
  flow: Flow,
  settings: Settings,
  progress: Progress,
): Promise<readonly ReportContext[]> {
  const contexts: ReportContext[] = []
  const today = new Date().toISOString().slice(0, 10)
  for (const [index, artifact] of artifacts.entries()) {
    const { id, path = id } = artifact
    progress.show(`comparing ${index + 1} of ${artifacts.length}: ${path}`)
    const compared = await flow.compare(artifact, { today })
    if (!compared.ok) continue
    const limit = Math.min(LISTED, settings.config.diff.findings)
    contexts.push({
      report: diffReport(compared.value, limit),
      documents: {
        base: { name: path, path, isCheckedOut: false },
        head: { name: path, path, isCheckedOut: true },
      },
      ignored: [],
      failOn: 'breaking',
      isColoured: false,
      version: packageVersion(),
    })
  }
  return contexts
}

/** What one file says of several contracts. */
const JOINED: Readonly<Record<'sarif' | 'junit', (texts: readonly string[]) => string>> = {
  sarif(texts) {
    const logs = texts.map((text): { readonly runs: readonly object[] } => JSON.parse(text))
    const runs = logs.flatMap((log) => log.runs)
    const [first] = logs
    return `${JSON.stringify({ ...(first ?? { version: '2.1.0' }), runs: joinedRuns(runs) }, null, 2)}\n`
  },
  junit(texts) {
    const suites = texts.flatMap((text) => /<testsuite [^]*<\/testsuite>/.exec(text)?.[0] ?? [])
    return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="preflight ci">\n${suites.join('\n')}\n</testsuites>\n`
  },
}

/** Code scanning takes one run of a tool for each upload: rules are counted anew. */
function joinedRuns(runs: readonly object[]): readonly object[] {
  return runs.map((run, index) => ({ ...run, automationDetails: { id: `preflight/contracts/${index + 1}/` } }))
}

/** The file, in a folder that exists. */
function withFolder(file: string): string {
  makeDirectory(dirname(file), 0o777)
  return file
}

function writeFiles(args: Arguments, contexts: readonly ReportContext[]): void {
  for (const form of ['sarif', 'junit'] as const) {
    const file = args.value(form)
    if (file !== undefined)
      writeFileSync(withFolder(file), JOINED[form](contexts.map((context) => renderReport(form, context))))
  }
  const quality = args.value('code-quality')
  if (quality !== undefined) writeFileSync(withFolder(quality), renderCodeQuality(contexts))
}

function writeOutputs(
  args: Arguments,
  io: CommandIo,
  { place: { name }, text }: PipelineReport,
  contexts: readonly ReportContext[],
): void {
  const file = args.value('markdown')
  if (file !== undefined) writeFileSync(withFolder(file), text)
  const summary = variable(io.environment, 'GITHUB_STEP_SUMMARY')
  if (name === 'github' && summary !== null) writeFileSync(summary, text, { flag: 'a' })
  if (args.flag('quiet')) return
  const form: ReportForm = name === 'github' ? 'github' : 'text'
  for (const context of contexts) {
    writeLine(io.stdout, context.documents.head.name)
    io.stdout.write(renderReport(form, context))
  }
  if (contexts.length === 0) writeLine(io.stdout, 'no contract changed')
}

/** Length that comments of every platform take. */
const MAX_COMMENT = 30_000

/** @param authorization decision of the gateway; null: none was requested */
function markdownOf(
  verdict: Verdict,
  contexts: readonly ReportContext[],
  change: PipelineChange,
  authorization: PipelineOutcome | null,
): string {
  const { decision, execution_action: action, risk_score: risk, severity_summary: counts } = verdict
  const head = [
    MARKER,
    `## Contract changes: ${decision}`,
    '',
    `${counts.breaking} breaking, ${counts.dangerous} dangerous, ${counts.info} compatible. Risk ${risk}. ${markdownCode(action)}.`,
    '',
    ...(authorization === null
      ? []
      : [`**Merge, decided by the gateway:** ${markdownCode(authorization.summary)}`, '']),
    ...(change.problem === null ? [] : [`**Not complete:** ${markdownCode(change.problem)}`, '']),
    ...verdict.blocking_reasons
      .slice(0, 10)
      .map(({ code, message }) => `- ${markdownCode(code)}: ${markdownCode(message)}`),
    ...(contexts.length === 0 ? ['No contract changed.'] : []),
    '',
  ].join('\n')
  const sections = contexts.map((context) => {
    const body = renderReport('markdown', context).replace(/^# .*\n/, '')
    return `<details><summary>${context.documents.head.name.replaceAll(/[<>&]/g, '')}</summary>\n\n${body}\n</details>\n`
  })
  let text = head
  let left = 0
  for (const section of sections) {
    if (text.length + section.length > MAX_COMMENT) left += 1
    else text += section
  }
  return left === 0 ? text : `${text}\n${left} more ${left === 1 ? 'contract' : 'contracts'}: see the log of the job.\n`
}

/** The exit code follows the policy: what waits for a person does not pass either. */
function pipelineExit(
  { execution_action: action, analysis_complete: isComplete }: Verdict,
  { problem }: PipelineChange,
): ExitCode {
  if (problem !== null || !isComplete) return EXIT.undecided
  return action === 'CONTINUE' || action === 'CONTINUE_WITH_MONITORING' ? EXIT.good : EXIT.no
}

async function authorizedOutcome(
  args: Arguments,
  io: CommandIo,
  { artifacts, problem }: PipelineChange,
  context: DecisionContext,
): Promise<PipelineOutcome> {
  if (problem !== null) return { code: EXIT.undecided, summary: problem }
  if (artifacts.length === 0) return { code: EXIT.good, summary: 'no contract changed' }
  const stated = Object.fromEntries(Object.entries(context).filter(([, value]) => value !== null))
  const answer = await askGateway({ preflight_mode: 'authorize', artifacts, context: stated }, undefined, io)
  const receipt = args.value('receipt')
  if (receipt !== undefined && typeof answer['chain_receipt'] === 'string')
    writeReceipt(withFolder(receipt), answer['chain_receipt'])
  const action = String(answer['execution_action'])
  writeLine(io.stdout, `merge: ${action}`)
  const code = action === 'CONTINUE' || action === 'CONTINUE_WITH_MONITORING' ? EXIT.good : EXIT.no
  return { code, summary: `${String(answer['decision'])}: ${String(answer['summary'])}` }
}

async function publish(
  args: Arguments,
  io: CommandIo,
  { place: { forum }, text, outcome: { code, summary } }: PipelineReport,
): Promise<void> {
  if (!args.flag('comment') && !args.flag('status')) return
  if (forum === null)
    return writeLine(io.stderr, 'preflight ci: there is no token to comment with; see preflight ci --help')
  // A pull request from a fork has a token that may not write: the result stands without the comment.
  try {
    if (args.flag('comment')) await forum.comment(text)
    if (args.flag('status')) await forum.status(code === EXIT.good ? 'success' : 'failure', summary)
  } catch (error) {
    writeLine(io.stderr, `preflight ci: not published: ${messageOf(error)}`)
  }
}
