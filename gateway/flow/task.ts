/**
 * Work that may be too slow for the event loop, as plain tasks. The same code runs here for small input and in a worker for
 * large input (law 7 of CONTRIBUTING.md).
 */
import { engine } from '../loading/lazy-engine.ts'
import { isUtf8 } from 'node:buffer'
import { changeSetDigests, fail, ok, readJson } from '../../engine/base.ts'
import type {
  AcceptedOperations,
  Artifact,
  ArtifactType,
  ChangeSetDigests,
  CompareOptions,
  Comparison,
  DocumentLimits,
  Result,
} from '../../engine/internal.ts'
import { bundledText } from '../documents/bundle.ts'
import { fileReferences, type FileSite } from '../documents/file-references.ts'
import { sha256Hex } from '../runtime/hash.ts'

interface CompareTask {
  readonly kind: 'compare'
  readonly artifact: Artifact
  readonly options: CompareOptions
}

interface DigestTask {
  readonly kind: 'digest'
  readonly artifacts: readonly Artifact[]
}

interface ReadTask {
  readonly kind: 'read'
  readonly bytes: Uint8Array
  readonly limits: DocumentLimits
}

/** Finds the type of a contract that nobody has declared. */
interface SniffTask {
  readonly kind: 'sniff'
  readonly before: string
  readonly after: string
  readonly limits: DocumentLimits
}

/** Finds the further files that a document names. */
interface ReferencesTask {
  readonly kind: 'references'
  readonly text: string
  readonly limits: DocumentLimits
}

/** Contract files that refer to each other, as one text. */
interface BundleTask {
  readonly kind: 'bundle'
  readonly root: string
  /** By path. */
  readonly texts: Readonly<Record<string, string>>
  readonly site: FileSite | null
  readonly limits: DocumentLimits
}

/** A baseline with single operations replaced by the candidate's. */
interface ComposeTask {
  readonly kind: 'compose'
  readonly baseline: string
  readonly candidate: string
  /** operationId or `METHOD /path` each. */
  readonly operations: readonly string[]
  readonly limits: DocumentLimits
}

export type Task = CompareTask | DigestTask | ReadTask | SniffTask | ReferencesTask | BundleTask | ComposeTask

/** The answer of each kind of task. */
export interface TaskAnswers {
  readonly compare: Comparison
  readonly digest: ChangeSetDigests
  readonly read: unknown
  readonly sniff: ArtifactType
  readonly references: readonly string[]
  readonly bundle: string
  readonly compose: AcceptedOperations
}
export type TaskKind = keyof TaskAnswers
export type TaskOf<Kind extends TaskKind> = Extract<Task, { readonly kind: Kind }>

const decoder = new TextDecoder()

const RUNNERS: { readonly [Kind in TaskKind]: (task: TaskOf<Kind>) => Result<TaskAnswers[Kind]> } = {
  compare: ({ artifact, options }) => engine().compare(artifact, options, sha256Hex),
  digest: ({ artifacts }) => ok(changeSetDigests(artifacts, sha256Hex)),
  // A lenient decoder would put U+FFFD for bytes that are not UTF-8, and the hash would be of a text that nobody sent.
  read: ({ bytes, limits }) =>
    isUtf8(bytes)
      ? readJson(decoder.decode(bytes), limits)
      : fail({ code: 'ARTIFACT_UNREADABLE', message: 'The body is not UTF-8 text.' }),
  sniff: ({ before, after, limits }) => engine().sniffArtifactType(before, after, limits),
  references: ({ text, limits }) => ok(fileReferences(text, limits)),
  bundle: ({ root, texts, site, limits }) => bundledText(root, texts, limits, site),
  compose: ({ baseline, candidate, operations, limits }) =>
    engine().acceptOperations(baseline, candidate, operations, limits),
}

export function runTask<Kind extends TaskKind>(kind: Kind, task: TaskOf<Kind>): Result<TaskAnswers[Kind]> {
  return RUNNERS[kind](task)
}

/** An answer on its way between threads, where types are lost. */
export interface TaskAnswer<Kind extends TaskKind = TaskKind> {
  readonly kind: Kind
  readonly value: TaskAnswers[Kind]
}

export function isAnswerOf<Kind extends TaskKind>(kind: Kind, answer: TaskAnswer): answer is TaskAnswer<Kind> {
  return answer.kind === kind
}
