/** Calls of tools that change contract files: what each changes, as checks of their own, in addition to that of the tool. */
import {
  applyFileChange,
  filePathReadings,
  furtherPaths,
  isFilePattern,
  pathAndEnds,
  isSameFile,
  namedFiles,
  readFileChanges,
  type ArtifactType,
  type FileChange,
  type FileChanges,
  type Problem,
} from '../../../engine/internal.ts'
import { recordIn } from '../../json/unchecked-json.ts'
import type { ScmConfig } from '../../scm/settings.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import { classify } from '../../scm/contract-file.ts'
import type { FileAtCommit } from '../../scm/platform.ts'
import {
  type ContractTexts,
  type DerivationTerms,
  derivationTerms,
  createSelector,
  typeByName,
  type ContractSelector,
} from '../../scm/selector.ts'
import type { OfferedContract } from '../../baselines/baselines.ts'
import type { ResourceCheck } from '../common/action.ts'
import type { McpAsker } from './gateway-requests.ts'
import { createFileReading, type FileReading, type QuestionCount } from './file-reading.ts'
import { itemIn } from './manifest-text.ts'
import type { JudgedMcpRequest } from './judged-requests.ts'
import { isJsonObject } from '../../json/strict-json.ts'

interface McpEditsDeps {
  readonly config: () => ScmConfig
  readonly texts: ContractTexts
  readonly upstreams: Upstreams
}

/** What a call changes, and what must still hold when it is sent. */
export interface EditChecks {
  readonly checks: readonly ResourceCheck[]
  /** Rejects when a file is not what it was when it was judged. */
  readonly confirm: () => Promise<void>
}

export interface McpEdits {
  /** Never rejects because of the content of the call: an edit that cannot be determined is judged as incomplete. */
  /** Whether there is anything to ask: most calls concern no file, and need no more than this look. */
  mayChangeFiles(resource: JudgedMcpRequest, asker: McpAsker): boolean
  /** @param questions those of the request so far */
  checksFor(
    resource: JudgedMcpRequest,
    asker: McpAsker,
    offered: OfferedContract,
    questions: QuestionCount,
  ): Promise<EditChecks>
}

const NO_QUESTIONS: EditChecks = { checks: [], confirm: () => Promise.resolve() }

export function createMcpEdits(deps: McpEditsDeps): McpEdits {
  return {
    mayChangeFiles({ method, item, params }, { call }) {
      const { edits } = call.route
      if (method !== 'tools/call' || !edits.judge || edits.ignore.includes(item)) return false
      const args = params['arguments']
      if (edits.write.includes(item) || readFileChanges(args, null).kind !== 'none') return true
      return REMOVERS.test(item) && removedFiles(args)?.length !== 0
    },
    async checksFor(resource, asker, offered, questions) {
      if (!this.mayChangeFiles(resource, asker)) return NO_QUESTIONS
      const { edits } = asker.call.route
      const args = resource.params['arguments']
      const isWriter = edits.write.includes(resource.item)
      const tool = itemIn('tools', resource.item, offered)
      if (!isWriter && isReadOnly(tool)) return NO_QUESTIONS
      const selector = createSelector(deps.config().scm.contracts)
      const read = stepsOf(resource, readFileChanges(args, declaredMembers(tool)))
      if (read.kind === 'excessive') return excessive(resource, asker)
      if (read.kind === 'unclear') {
        const named = read.paths.filter((path) => isLookedAt(path, selector))
        return isWriter || named.length > 0 ? unclear(resource, asker, named[0] ?? 'a file') : NO_QUESTIONS
      }
      if (contractsAmong(read.steps, selector).length > MOST_FILES) return excessive(resource, asker)
      const other = furtherContract(args, read.steps, selector)
      if (other !== null) return unclear(resource, asker, other)
      const reading = createFileReading({
        asker,
        manifest: offered,
        tools: edits.read,
        args: recordIn(args),
        upstreams: deps.upstreams,
        questions,
      })
      const expanded = await withFolders(read.steps, reading, { selector, questions })
      if (expanded.kind === 'unclear') return unclear(resource, asker, expanded.path)
      if (expanded.kind === 'excessive') return excessive(resource, asker)
      const steps = contractsAmong(expanded.steps, selector)
      if (steps.length === 0) return NO_QUESTIONS
      if (steps.length > MOST_FILES || questions.asked + steps.length > MOST_QUESTIONS)
        return excessive(resource, asker)
      // Read under the one name and written under the other, it would be compared with a file that it does not change.
      const twofold = steps.flatMap(pathsOf).find((path) => filePathReadings(path).length > 1 || isFilePattern(path))
      if (twofold !== undefined) return unclear(resource, asker, twofold)
      return checksOfFiles(steps, { resource, asker, reading, selector, deps })
    },
  }
}

/** Names of tools that take files away. Their arguments are those of tools that read. */
const REMOVERS =
  /(?:^|[^a-z]|[a-z](?=[A-Z]))(?:delete|remove|unlink|trash|erase|rm|Delete|Remove|Unlink|Trash|Erase)(?![a-z])/

type FileStep =
  | FileChange
  | { readonly kind: 'removed'; readonly path: string }
  | { readonly kind: 'moved'; readonly from: string; readonly to: string; readonly isCopy: boolean }

type ReadSteps =
  | { readonly kind: 'steps'; readonly steps: readonly FileStep[] }
  | Extract<FileChanges, { readonly kind: 'unclear' | 'excessive' }>

/** What the call does, in order; else the files that it may change in a way that is not clear. */
function stepsOf({ item, params }: JudgedMcpRequest, read: FileChanges): ReadSteps {
  if (read.kind === 'unclear' || read.kind === 'excessive') return read
  if (read.kind === 'changes') return { kind: 'steps', steps: read.changes }
  if (read.kind === 'moved') return { kind: 'steps', steps: [{ ...read, isCopy: COPIERS.test(item) }] }
  const paths = REMOVERS.test(item) ? removedFiles(params['arguments']) : []
  if (paths === null) return { kind: 'excessive' }
  if (paths.length === 0) return { kind: 'unclear', paths }
  return { kind: 'steps', steps: paths.map((path) => ({ kind: 'removed', path })) }
}

/** The files that a removal names: by known members, or else by any other. Null: more than can be looked at. */
function removedFiles(args: unknown): readonly string[] | null {
  const known = namedFiles(args)
  if (known === null || known.length > 0) return known
  return furtherPaths(args, [])?.named ?? null
}

const COPIERS = /copy|duplicate/i

function pathsOf(step: FileStep): readonly string[] {
  return step.kind === 'moved' ? [step.from, ...targetsOf(step)] : [step.path]
}

function contractsAmong(steps: readonly FileStep[], selector: ContractSelector): readonly FileStep[] {
  return steps.filter((step) => pathsOf(step).some((path) => isLookedAt(path, selector)))
}

/** The target, and the file in it where it is a folder. */
function targetsOf({ from, to }: Extract<FileStep, { readonly kind: 'moved' }>): readonly string[] {
  return [to, `${to.replace(/\/+$/, '')}/${from.split(/[\\/]/).at(-1) ?? ''}`]
}

/**
 * A contract that the arguments may name besides the files of the steps; null: none. The contracts among these are
 * judged as the server reads them, with the same arguments.
 */
function furtherContract(args: unknown, steps: readonly FileStep[], selector: ContractSelector): string | null {
  const own = [...new Set(steps.flatMap((step) => (step.kind === 'moved' ? [step.from, step.to] : [step.path])))]
  const judged = own.filter((path) => isLookedAt(path, selector))
  const known = new Set(judged)
  const unjudged = own.filter((path) => !known.has(path))
  const further = furtherPaths(args, own, unjudged)
  if (further === null) return own[0] ?? 'a file'
  const found = [...further.named, ...further.joined, ...further.loose].find(
    (path) => isLookedAt(path, selector) && !judged.some((one) => isSameFile(one, path)),
  )
  return found ?? null
}

/** Of one folder; a call that moves or removes more contracts is not followed. */
const MOST_IN_FOLDER = 50
/** Contracts that one call changes. Each is read, judged and recorded by itself. */
const MOST_FILES = 100
/** Files and folders that the server is asked about for one request, before its calls are confirmed. */
const MOST_QUESTIONS = 200

type Expanded =
  | { readonly kind: 'steps'; readonly steps: readonly FileStep[] }
  | { readonly kind: 'unclear'; readonly path: string }
  | { readonly kind: 'excessive' }

interface Expansion {
  readonly selector: ContractSelector
  readonly questions: QuestionCount
}

/** The same, with each contract file of a folder that is moved or removed as a step of its own. */
async function withFolders(
  steps: readonly FileStep[],
  reading: FileReading,
  { selector, questions }: Expansion,
): Promise<Expanded> {
  const expanded: FileStep[] = []
  for (const step of steps) {
    expanded.push(step)
    if (step.kind !== 'moved' && step.kind !== 'removed') continue
    const folder = (step.kind === 'moved' ? step.from : step.path).replace(/(?<=.)[/\\]+$/, '')
    if (isLookedAt(folder, selector)) continue
    if (questions.asked >= MOST_QUESTIONS) return { kind: 'excessive' }
    const found = await reading.below(folder)
    if (found.kind === 'unknown') return { kind: 'unclear', path: folder }
    const files = found.kind === 'none' ? [] : found.names
    const inside = files
      .map((name) => stepsWithin(step, folder, name))
      .filter((within) => within.flatMap(pathsOf).some((path) => isLookedAt(path, selector)))
    if (inside.length > MOST_IN_FOLDER) return { kind: 'unclear', path: folder }
    expanded.push(...inside.flat())
  }
  return { kind: 'steps', steps: expanded }
}

/** An existing target gets the folder, another one is the folder. */
function stepsWithin(
  step: Extract<FileStep, { readonly kind: 'moved' | 'removed' }>,
  folder: string,
  name: string,
): readonly FileStep[] {
  const from = `${folder}/${name}`
  if (step.kind === 'removed') return [{ kind: 'removed', path: from }]
  const [to = '', inside = ''] = targetsOf({ ...step, from: folder }).map((target) => target.replace(/\/+$/, ''))
  return [
    { kind: 'moved', from, to: `${to}/${name}`, isCopy: true },
    { kind: 'moved', from, to: `${inside}/${name}`, isCopy: step.isCopy },
  ]
}

interface Editing {
  readonly resource: JudgedMcpRequest
  readonly asker: McpAsker
  readonly reading: FileReading
  readonly selector: ContractSelector
  readonly deps: McpEditsDeps
}

/** Changes of one file come one after the other, so that each starts from what the one before made of it. */
async function checksOfFiles(steps: readonly FileStep[], editing: Editing): Promise<EditChecks> {
  const { reading, selector } = editing
  const after = new Map<string, FileAtCommit>()
  for (const step of steps) {
    const now = async (path: string): Promise<FileAtCommit> => after.get(path) ?? (await reading.read(path))
    if (step.kind === 'moved') {
      const text = await now(step.from)
      if (!step.isCopy) after.set(step.from, { kind: 'absent' })
      for (const target of targetsOf(step)) after.set(target, text)
    } else after.set(step.path, step.kind === 'removed' ? { kind: 'absent' } : changed(await now(step.path), step))
  }
  const sides = {
    before: (path: string) => reading.read(path),
    after: (path: string) => Promise.resolve(after.get(path) ?? reading.read(path)),
  }
  const checks: ResourceCheck[] = []
  for (const path of after.keys()) {
    if (!isLookedAt(path, selector)) continue
    const { artifacts, unreadable } = await classify({ path }, sides, termsOf(editing))
    if (artifacts.length === 0 && unreadable.length === 0) continue
    checks.push(fileCheck(path, editing, { kind: 'change_set', artifacts, unreadable }))
  }
  return { checks, confirm: () => confirmUnchanged([...after.keys()], reading) }
}

function changed(prior: FileAtCommit, change: FileChange): FileAtCommit {
  // A whole new content says what the file will be, though not what it was.
  if (prior.kind === 'unreadable' && change.kind !== 'write') return prior
  const applied = applyFileChange(prior.kind === 'text' ? prior.text : null, change)
  return applied.ok ? { kind: 'text', text: applied.value } : { kind: 'unreadable', problem: applied.problem }
}

function termsOf({ deps }: Pick<Editing, 'deps'>): DerivationTerms {
  return derivationTerms(deps.config(), deps.texts)
}

function fileCheck(
  path: string,
  { resource, asker }: Pick<Editing, 'resource' | 'asker'>,
  basis: Extract<ResourceCheck['basis'], { readonly kind: 'change_set' }>,
): ResourceCheck {
  const { route } = asker.call
  const { operation } = route.edits
  return {
    resource: {
      name: `${resource.name} ${path}`,
      target: `${route.name}#file/${path}`,
      scope: null,
      ...(operation !== undefined && { operation }),
    },
    basis,
  }
}

function unclear(resource: JudgedMcpRequest, asker: McpAsker, path: string): EditChecks {
  return unrecognised(
    path,
    `The arguments of ${resource.item} do not determine in one way what it would change in ${path}.`,
    { resource, asker },
  )
}

function excessive(resource: JudgedMcpRequest, asker: McpAsker): EditChecks {
  return unrecognised(
    'a file',
    `${resource.item} names more files than are looked at for one request. Send calls that name fewer files.`,
    { resource, asker },
  )
}

function unrecognised(path: string, message: string, editing: Pick<Editing, 'resource' | 'asker'>): EditChecks {
  const problem: Problem = { code: 'GUARD_CALL_UNRECOGNISED', message }
  const type: ArtifactType = typeByName(path) ?? 'openapi'
  const basis = { kind: 'change_set', artifacts: [], unreadable: [{ id: path, type, problem }] } as const
  return { ...NO_QUESTIONS, checks: [fileCheck(path, editing, basis)] }
}

async function confirmUnchanged(paths: readonly string[], reading: FileReading): Promise<void> {
  for (const path of paths) {
    const [judged, now] = [await reading.read(path), await reading.again(path)]
    if (judged.kind === now.kind && (judged.kind !== 'text' || now.kind !== 'text' || judged.text === now.text))
      continue
    throw new GatewayError('PREFLIGHT_UNDECIDED', `${path} was changed while its change was being judged.`)
  }
}

/** Globs are of paths within a repository; servers also take absolute ones, those of Windows, and some of them names in other letters. */
function isLookedAt(path: string, selector: ContractSelector): boolean {
  return filePathReadings(path).some((reading) => {
    const plain = reading.replace(/^(?:\/|\.\.\/)+/, '')
    return selector.isSelected(plain) || selector.mayBeSelected(plain, pathAndEnds(reading))
  })
}

/** The tool says itself that it changes nothing, and its word is part of the baseline. */
function isReadOnly(tool: Readonly<Record<string, unknown>> | null): boolean {
  const annotations = tool?.['annotations']
  return isJsonObject(annotations) && annotations['readOnlyHint'] === true
}

function declaredMembers(tool: Readonly<Record<string, unknown>> | null): ReadonlySet<string> | null {
  const schema = tool?.['inputSchema']
  const properties = isJsonObject(schema) ? schema['properties'] : null
  return isJsonObject(properties) && Object.keys(properties).length > 0 ? new Set(Object.keys(properties)) : null
}
