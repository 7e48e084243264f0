/**
 * The guard for agents that cannot run behind a proxy. It wraps a tool table so that a call that would change a
 * contract runs only with a permitting decision. Requests, time and files are passed in. `mayProceed` decides, and
 * every failure before the tool runs ends in `executed: false`.
 */
import { inputFingerprint, type Artifact, type ArtifactType } from '../model/change-set.ts'
import { mayProceed, readDecision, type Permission } from './consumer.ts'
import { sniffArtifactType } from '../formats/sniff.ts'
import type { Reason } from '../decide/envelope-members.ts'
import { reason } from '../decide/reasons.ts'
import { applyFileChange, readFileChange, type FileChange } from './edits.ts'
import { furtherPaths } from './further-paths.ts'
import { guardedClient, guardedTool, type Guard, type Run, type Runner } from './shapes.ts'
import { filePathReadings, foldedFilePaths, isFilePattern, normalFilePath, pathAndEnds } from '../common/file-path.ts'
import { guardOptionsMistake, type GuardOptions } from './options.ts'
import { isRecord } from '../schema/located.ts'

export type GuardVerdict =
  /** The call is no change of a contract, as the options say. */
  | { readonly kind: 'UNJUDGED' }
  | { readonly kind: 'ALLOW' | 'WARN'; readonly decisionId: string; readonly correlationId: string }
  /** BLOCK: do not retry the same change. REQUIRE_APPROVAL: ask a person. `decisionId` is null when nothing was decided. */
  | { readonly kind: 'BLOCK' | 'REQUIRE_APPROVAL'; readonly decisionId: string | null; readonly reason: Reason }

/** `executed: false`: the tool did not run. */
export type GuardOutcome<Result> =
  | { readonly executed: true; readonly result: Result; readonly verdict: GuardVerdict }
  | { readonly executed: false; readonly verdict: Extract<GuardVerdict, { readonly reason: Reason }> }

/** Functions, or objects with a member that runs them: `execute` (Vercel AI SDK), `invoke`, `func` (LangChain), and the like. */
export type ToolTable = Readonly<Record<string, object>>

/** What it takes stays, what it answers becomes an outcome. */
type Guarded<Call> = Call extends (...args: infer Args) => infer Result
  ? (...args: Args) => Promise<GuardOutcome<Awaited<Result>>>
  : Call

/** The same tool; each way of running it answers an outcome. */
export type GuardedTool<Tool> = Tool extends (...args: never[]) => unknown
  ? Guarded<Tool>
  : { readonly [Member in keyof Tool]: Member extends Runner ? Guarded<Tool[Member]> : Tool[Member] }

/** The same names; each call answers an outcome. */
export type GuardedTools<Tools extends ToolTable> = { readonly [Name in keyof Tools]: GuardedTool<Tools[Name]> }

/** The same client; `callTool` answers an outcome, and `request` too for `tools/call`. */
export type GuardedClient<Client> = {
  readonly [Member in keyof Client]: Member extends 'callTool' ? Guarded<Client[Member]> : Client[Member]
}

/**
 * Register only the tools that this returns.
 * @throws TypeError when an option is missing or wrong (a receipt is for exactly one operation), or a tool has nothing that runs it
 */
export function guardTools<Tools extends ToolTable>(tools: Tools, options: GuardOptions): GuardedTools<Tools>
export function guardTools(tools: ToolTable, options: GuardOptions): Readonly<Record<string, unknown>> {
  const guard = createGuard(options)
  return Object.freeze(
    Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, guardedTool(name, tool, guard)])),
  )
}

/**
 * Call tools of an MCP server only through the client that this returns. `reads` names tools of the server.
 * @throws TypeError when an option is missing or wrong, or the client has no `callTool`
 */
export function guardMcpClient<Client extends object>(client: Client, options: GuardOptions): GuardedClient<Client>
export function guardMcpClient(client: object, options: GuardOptions): unknown {
  return guardedClient(client, createGuard(options))
}

function createGuard(options: GuardOptions): Guard {
  const mistake = guardOptionsMistake(options)
  if (mistake !== null) throw new TypeError(mistake)
  return (name, args, run) => (options.reads?.includes(name) ? runUnjudged(run) : guardedCall(run, args, options))
}

type RefusedRun = Extract<GuardOutcome<unknown>, { readonly executed: false }>

async function runUnjudged(run: Run): Promise<GuardOutcome<unknown>> {
  return { executed: true, result: await run(), verdict: { kind: 'UNJUDGED' } }
}

async function guardedCall(run: Run, args: unknown, options: GuardOptions): Promise<GuardOutcome<unknown>> {
  const change = readFileChange(args)
  if (change === null)
    return blockedCall(
      reason(
        'GUARD_CALL_UNRECOGNISED',
        args === null
          ? 'The arguments are no plain data or JSON text, so they do not show what this call would change.'
          : 'The arguments do not show what this call would change.',
      ),
    )
  if (leadsElsewhere(args, change.path, options))
    return blockedCall(
      reason('GUARD_CALL_UNRECOGNISED', `Besides ${change.path}, the arguments may name another file that is changed.`),
    )
  if (isNoContract(change.path, options)) return runUnjudged(run)
  const judged = await judgeChange(change, options)
  if (!('artifacts' in judged)) return judged
  const { permission, decisionId } = judged
  const verdict = {
    kind: permission.monitor ? 'WARN' : 'ALLOW',
    decisionId,
    correlationId: permission.correlationId,
  } as const
  if (!permission.monitor) return { executed: true, result: await run(), verdict }
  return monitored(run, verdict, options)
}

/**
 * Every file that the path may name must be `none`. `./contracts/x` and `docs/../contracts/x` are `contracts/x`, and
 * so is `Contracts/X` on many disks. The files of a pattern are unknown. A path elsewhere may lead to the root by
 * another name of a folder, so its ends count too.
 */
function isNoContract(path: string, { typeOf: declared, root }: GuardOptions): boolean {
  if (declared === undefined || isFilePattern(path)) return false
  const names = filePathReadings(path).flatMap((reading) => pathAndEnds(fromRoot(reading, root)))
  return names.flatMap(foldedFilePaths).every((name) => declared(name) === 'none')
}

/**
 * Whether the arguments may name a further file that is judged, or another one than the path alone does. Without
 * `typeOf`, every further path is one. Folders that hold the file lead nowhere else.
 */
function leadsElsewhere(args: unknown, path: string, options: GuardOptions): boolean {
  const paths = furtherPaths(args, [path])
  if (paths === null) return true
  const own = fromRoot(normalFilePath(path), options.root)
  const isOwn = (text: string): boolean => {
    const other = fromRoot(normalFilePath(text), options.root)
    return other === own || other === '' || own.startsWith(`${other}/`)
  }
  const further = [...paths.named, ...paths.joined, ...(isNoContract(path, options) ? paths.loose : [])]
  return further.some((text) => !isOwn(text) && !isNoContract(text, options))
}

/** The path relative to the root, whose letters may be of another case. A path elsewhere is unchanged. */
function fromRoot(path: string, root: string | undefined): string {
  const folder = root === undefined ? null : normalFilePath(root)
  if (folder === null) return path
  const whole = path.startsWith('/') ? path : normalFilePath(`${folder}/${path}`)
  const start = whole.slice(0, folder.length + 1)
  if (`${whole}/` === `${folder}/`) return ''
  const [here, there] = [start, `${folder}/`].map((one) => one.normalize('NFC').toLowerCase())
  return here === there ? whole.slice(folder.length + 1) : path
}

interface PermittedCall {
  readonly artifacts: readonly Artifact[]
  readonly permission: Extract<Permission, { readonly proceed: true }>
  readonly decisionId: string
}

/** Never rejects: a failure on the way to a permission is a refusal. */
async function judgeChange(change: FileChange, options: GuardOptions): Promise<PermittedCall | RefusedRun> {
  try {
    const prior = (await options.readFile?.(change.path)) ?? null
    const artifacts = artifactsFor(change, prior, options)
    if ('executed' in artifacts) return artifacts
    const { permission, decisionId } = await permissionFor(artifacts, options)
    if (!permission.proceed) {
      const kind = permission.directive === 'REQUEST_APPROVAL' ? 'REQUIRE_APPROVAL' : 'BLOCK'
      return { executed: false, verdict: { kind, decisionId, reason: permission.reason } }
    }
    // The decision is about the former content; another writer may have changed the file since.
    if (((await options.readFile?.(change.path)) ?? null) !== prior)
      return blockedCall(
        reason('GUARD_CONTENT_CHANGED', `${change.path} was changed while the change was being judged.`),
      )
    return { artifacts, permission, decisionId: decisionId ?? '' }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return blockedCall(reason('PREFLIGHT_UNREACHABLE', `The gateway gave no decision: ${message}`))
  }
}

async function permissionFor(
  artifacts: readonly Artifact[],
  options: GuardOptions,
): Promise<{ readonly permission: Permission; readonly decisionId: string | null }> {
  const context = { ...options.context, operation: options.operation }
  const answer = await options.preflight({ preflight_mode: 'authorize', artifacts, context })
  const decisionResult = isRecord(answer) ? answer['decision_result'] : undefined
  const reading = readDecision(decisionResult)
  const attempt = {
    now: Math.floor(options.now() / 1000),
    inputFingerprint: inputFingerprint(artifacts, options.sha256),
    isMonitoringWired: options.report !== undefined,
  }
  if (!reading.ok)
    return { permission: mayProceed(reading, { ...attempt, currentlyAuthorized: null }), decisionId: null }
  const { token, decision_id: decisionId } = reading.decision
  // What the guard itself computed, not what the decision contains.
  const { inputFingerprint: held } = attempt
  const verified = await options.verify({
    token,
    decision_result: decisionResult,
    context: { ...context, input_fingerprint: held },
  })
  const currentlyAuthorized = isAuthorized(verified) && isAuthorized(receiptViewIn(answer))
  return { permission: mayProceed(reading, { ...attempt, currentlyAuthorized }), decisionId }
}

function receiptViewIn(answer: unknown): unknown {
  const control = isRecord(answer) ? answer['control_envelope'] : undefined
  return isRecord(control) ? control['receipt_view'] : undefined
}

function isAuthorized(value: unknown): boolean {
  return isRecord(value) && value['currently_authorized'] === true
}

/** The contract before and after: the whole file if it can be read, else the two sides of the edit. */
function artifactsFor(
  change: FileChange,
  prior: string | null,
  options: GuardOptions,
): readonly Artifact[] | RefusedRun {
  const { path } = change
  if (prior === null)
    return change.kind === 'edit'
      ? sidesOf(change, options)
      : blockedCall(reason('GUARD_NO_PRIOR_CONTENT', `${path}: there is no content to compare the new one with.`))
  const edited = applyFileChange(prior, change)
  return edited.ok
    ? typed([{ id: path, path, before: prior, after: edited.value }], options)
    : blockedCall(edited.problem)
}

/** Of edits whose file cannot be read: each old text counts as a file of its own. */
function sidesOf(
  { path, replacements }: Extract<FileChange, { kind: 'edit' }>,
  options: GuardOptions,
): readonly Artifact[] | RefusedRun {
  const sides: Omit<Artifact, 'type'>[] = []
  for (const [index, replacement] of replacements.entries()) {
    const { before } = replacement
    const edited = applyFileChange(before, { kind: 'edit', path, replacements: [replacement] })
    if (!edited.ok) return blockedCall(edited.problem)
    sides.push({ id: `${path}#${index}`, path, before, after: edited.value })
  }
  return typed(sides, options)
}

function typed(untyped: readonly Omit<Artifact, 'type'>[], options: GuardOptions): readonly Artifact[] | RefusedRun {
  const artifacts: Artifact[] = []
  for (const artifact of untyped) {
    const type = typedArtifact(artifact, options)
    if (type === null)
      return blockedCall(
        reason(
          'GUARD_CONTRACT_UNRECOGNISED',
          `${artifact.path}: no kind of contract that is known; say which with typeOf.`,
        ),
      )
    artifacts.push({ ...artifact, type })
  }
  return artifacts
}

/** An edit may make a contract unrecognisable. It then keeps its former type. */
function typedArtifact(
  { path = '', before, after }: Omit<Artifact, 'type'>,
  options: GuardOptions,
): ArtifactType | null {
  const declared = options.typeOf?.(fromRoot(normalFilePath(path), options.root)) ?? null
  if (declared !== null && declared !== 'none') return declared
  const both = sniffArtifactType(before, after)
  if (both.ok) return both.value
  const former = sniffArtifactType(before, before)
  return former.ok ? former.value : null
}

type Warned = Extract<GuardVerdict, { readonly correlationId: string }>

/** Runs the tool with the two events of CONTINUE_WITH_MONITORING. The first must be accepted before the tool runs. */
async function monitored(run: Run, verdict: Warned, options: GuardOptions): Promise<GuardOutcome<unknown>> {
  const report = (type: 'started' | 'finished', more: object = {}): Promise<unknown> =>
    options.report?.(executionEvent(verdict, type, more)) ?? Promise.resolve()
  try {
    await report('started')
  } catch {
    // Without a receiver of the telemetry the call is not monitored, so it is refused.
    return blockedCall(reason('MONITORING_UNWIRED', 'The telemetry of the call was not taken, so it did not run.'))
  }
  const startedAt = options.now()
  const finish = async (outcome: 'SUCCEEDED' | 'FAILED'): Promise<void> => {
    try {
      await report('finished', { outcome, duration_ms: Math.max(0, options.now() - startedAt) })
    } catch {
      // The effect has happened. The gateway closes an open monitoring window as UNKNOWN.
    }
  }
  let result: unknown
  try {
    result = await run()
  } catch (error) {
    await finish('FAILED')
    throw error
  }
  await finish('SUCCEEDED')
  return { executed: true, result, verdict }
}

function executionEvent({ decisionId, correlationId }: Warned, type: 'started' | 'finished', more: object): object {
  return {
    specversion: '1.0',
    id: `${decisionId}-${type}`,
    source: 'preflight-guard',
    type: `preflight.execution.${type}`,
    subject: correlationId,
    data: { correlation_id: correlationId, ...more },
  }
}

function blockedCall(why: Reason): RefusedRun {
  return { executed: false, verdict: { kind: 'BLOCK', decisionId: null, reason: why } }
}
