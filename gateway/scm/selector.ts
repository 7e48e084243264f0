/** The contract discovery profile: which changed files are looked at as contracts, and what a name alone says of them. */
import { posix } from 'node:path'
import { digestJson } from '../../engine/base.ts'
import { mayMeet, shortNames } from './pattern-overlap.ts'
import type { ArtifactType, Digest, DocumentLimits } from '../../engine/internal.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { ScmConfig } from './settings.ts'
import { documentLimits } from '../flow/analyst.ts'
import type { Flow } from '../flow/flow.ts'

/** Configuration `scm.contracts`. */
interface ContractProfile {
  readonly types: readonly ArtifactType[]
  /** A path counts when a glob matches it and no glob that begins with `!` does. */
  readonly globs: readonly string[]
}

export interface ContractSelector {
  readonly hash: Digest
  isSelected(path: string): boolean
  /**
   * Whether a path may be selected on a disk that does not tell letters apart, or as a pattern that names several files.
   * @param ends paths that the file may have from the root of its repository; by default the path
   */
  mayBeSelected(path: string, ends?: readonly string[]): boolean
  isOfType(type: ArtifactType): boolean
}

export function createSelector({ types, globs }: ContractProfile): ContractSelector {
  const excluded = globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1))
  const included = globs.filter((glob) => !glob.startsWith('!'))
  return {
    hash: digestJson({ types, globs }, sha256Hex),
    isSelected: (path) =>
      included.some((glob) => matchesGlob(path, glob)) && !excluded.some((glob) => matchesGlob(path, glob)),
    mayBeSelected: (path, ends = [path]) =>
      ends.some((end) =>
        included.some((glob) => matchesGlob(folded(end), folded(glob)) || mayMeet(shortNames(end), glob)),
      ) && !excluded.some((glob) => matchesGlob(path, glob)),
    isOfType: (type) => types.includes(type),
  }
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Globs do not see names that begin with a dot, and a contract may well lie in such a folder. */
function matchesGlob(path: string, glob: string): boolean {
  return posix.matchesGlob(path.replaceAll(/(^|\/)\.+(?=[^/])/g, '$1'), glob.replaceAll(/(^|\/)\.+(?=[^/])/g, '$1'))
}

const NAMES: readonly (readonly [pattern: RegExp, type: ArtifactType])[] = [
  [/(?:^|\/)(?:openapi|swagger)[^/]*\.(?:ya?ml|json)$/i, 'openapi'],
  [/(?:^|\/)asyncapi[^/]*\.(?:ya?ml|json)$/i, 'asyncapi'],
  [/\.proto$/i, 'protobuf'],
]

/** The type that a file is meant to be of by its name, even when its text cannot be read; null: the name says nothing. */
export function typeByName(path: string): ArtifactType | null {
  return NAMES.find(([pattern]) => pattern.test(path))?.[1] ?? null
}

/** Files that can hold a part of a contract that another file refers to. */
export function isReferable(path: string): boolean {
  return /\.(?:ya?ml|json)$/i.test(path)
}

/** What looks into contract texts, where a large one holds up nobody. */
export type ContractTexts = Pick<Flow, 'sniff' | 'fileReferences' | 'bundle'>

/** What contracts are looked for, and read by: the same wherever a change set is derived. */
export interface DerivationTerms {
  readonly selector: ContractSelector
  readonly texts: ContractTexts
  readonly limits: DocumentLimits
  /** Most contract files that are read. */
  readonly maxContracts: number
}

export function derivationTerms(config: ScmConfig, texts: ContractTexts): DerivationTerms {
  const { scm } = config
  return {
    selector: createSelector(scm.contracts),
    texts,
    limits: documentLimits(config),
    maxContracts: scm.max_contracts,
  }
}
