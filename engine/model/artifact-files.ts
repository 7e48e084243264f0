/**
 * Files that an artifact carries with its document, and the meaning of their names. Names are read without a file
 * system. Two names that may mean one file are refused, and a reference reaches only what its document's name leads
 * to.
 */
import type { Artifact, ArtifactType, ArtifactFile } from './artifact.ts'
import { canonicalJson, type Sha256 } from '../common/hash.ts'

export type { ArtifactFile, ArtifactFiles } from './artifact.ts'

/** Files of one artifact. */
export const MAX_ARTIFACT_FILES = 1000

/** Types whose documents name further files. Other types have no such reference. */
const TYPES_WITH_FILES: ReadonlySet<ArtifactType> = new Set(['openapi', 'asyncapi', 'json_schema', 'protobuf'])

/** The name of a protobuf document whose artifact states no path. Imports cannot name it. */
const UNNAMED_PROTO = 'document.proto'

interface FileMistake {
  /** Path of the file as written; null: all files together. */
  readonly path: string | null
  readonly message: string
}

type Carrier = Pick<Artifact, 'type' | 'path' | 'files'>

/** True if the artifact carries files with its document. */
export function hasFiles({ files }: Pick<Artifact, 'files'>): boolean {
  return files !== undefined && Object.keys(files).length > 0
}

/** Why the files of an artifact cannot be judged. Empty if every name has one meaning. */
export function fileMistakes(artifact: Carrier): readonly FileMistake[] {
  const { type, path, files = {} } = artifact
  const paths = Object.keys(files)
  if (paths.length === 0) return []
  if (!TYPES_WITH_FILES.has(type)) {
    const message = `are not taken for the type ${type}: its documents refer to no other files; types that do are ${[...TYPES_WITH_FILES].join(', ')}`
    return [{ path: null, message }]
  }
  if (paths.length > MAX_ARTIFACT_FILES)
    return [{ path: null, message: `has ${paths.length} files; at most ${MAX_ARTIFACT_FILES} are judged` }]
  if (path !== undefined && normalPath(path) === null)
    return [{ path: null, message: `need the artifact's path as ${PATH_FORM}: names of files start from it` }]
  const meant = new Map<string, string>()
  const document = documentName(artifact)
  return paths.flatMap((written): readonly FileMistake[] => {
    const name = referencedName(written, artifact)
    if (name === null) return [{ path: written, message: `is not a name of a file; write ${PATH_FORM}` }]
    const other = meant.get(name)
    meant.set(name, written)
    if (other !== undefined) return [{ path: written, message: `is the same file as ${JSON.stringify(other)}` }]
    if (name === document)
      return [{ path: written, message: 'is the document itself: its text is in before and after' }]
    const file = files[written]
    if (typeof file === 'object' && file.before === undefined && file.after === undefined)
      return [{ path: written, message: 'has no text; give it as text, or as {before, after} where it differs' }]
    if (type === 'protobuf' && !name.endsWith('.proto'))
      return [{ path: written, message: 'is not a protobuf file: its name must end with .proto' }]
    return []
  })
}

const PATH_FORM = 'a relative path with / between its parts, ./ or ../ at its start only'

/** Texts of one side by the names that references use, relative to the start of the document's path. */
export function filesOfSide(artifact: Carrier, side: 'before' | 'after'): Readonly<Record<string, string>> {
  const texts: [name: string, text: string][] = []
  for (const [path, file] of Object.entries(artifact.files ?? {})) {
    const name = referencedName(path, artifact)
    const text = textOn(file, side)
    if (name !== null && text !== undefined) texts.push([name, text])
  }
  return Object.fromEntries(texts)
}

/** The name of the document among its files. Empty if references cannot name it. */
export function documentName({ type, path = '' }: Carrier): string {
  const named = normalPath(path) ?? ''
  if (type !== 'protobuf') return named
  return named.endsWith('.proto') ? named : UNNAMED_PROTO
}

/** The text of a file on one side, or undefined. */
export function textOn(file: ArtifactFile, side: 'before' | 'after'): string | undefined {
  return typeof file === 'string' ? file : file[side]
}

/** The digest input of one side: the text itself, or with files the RFC 8785 text of everything on that side. */
export function sideDigest(
  artifact: Pick<Artifact, 'before' | 'after' | 'path' | 'files'>,
  side: 'before' | 'after',
  sha256: Sha256,
): string {
  if (!hasFiles(artifact)) return sha256(artifact[side])
  const files = Object.entries(artifact.files ?? {}).flatMap(([path, file]) => {
    const text = textOn(file, side)
    return text === undefined ? [] : [[path, text] as const]
  })
  const whole = {
    profile: 'artifact-side.v1',
    path: artifact.path ?? null,
    text: artifact[side],
    files: Object.fromEntries(files),
  }
  return sha256(canonicalJson(whole))
}

/** Code units of one side, files included. */
export function lengthOfSide(artifact: Artifact, side: 'before' | 'after'): number {
  const files = Object.values(artifact.files ?? {})
  return files.reduce((sum, file) => sum + (textOn(file, side)?.length ?? 0), artifact[side].length)
}

/** Code units of all texts, each once. */
export function lengthOf({ before, after, files = {} }: Pick<Artifact, 'before' | 'after' | 'files'>): number {
  return Object.values(files).reduce((sum, file) => sum + lengthOfFile(file), before.length + after.length)
}

function lengthOfFile(file: ArtifactFile): number {
  return typeof file === 'string' ? file.length : (file.before?.length ?? 0) + (file.after?.length ?? 0)
}

/**
 * A name that begins with `./` or `../` starts at the document, every other one at the start of `path`. Without `path`
 * both are the same. Null if it is not a name.
 */
function referencedName(written: string, { type, path = '' }: Carrier): string | null {
  const steps = normalSteps(written)
  if (steps === null) return null
  const isBeside = written.startsWith('./') || written.startsWith('../')
  const name = (isBeside ? joinedSteps(path.split('/').slice(0, -1), steps) : steps).join('/')
  // Imports are names from the root of a set, which has no parent.
  return type === 'protobuf' && name.startsWith('../') ? null : name
}

/** Null for a path that is ambiguous, or leads out of its tree. */
function normalPath(path: string): string | null {
  const steps = normalSteps(path)
  return steps === null || steps[0] === '..' ? null : steps.join('/')
}

/** Programs read a backslash or a control character differently. */
const AMBIGUOUS = /[\\\p{Cc}]/u

/** Steps above come first; an empty part has no meaning. */
function normalSteps(path: string): readonly string[] | null {
  if (AMBIGUOUS.test(path)) return null
  const parts = path.split('/')
  const steps = parts[0] === '.' ? parts.slice(1) : parts
  const below = steps.findIndex((step) => step !== '..')
  if (below === -1) return null
  return steps.slice(below).some((step) => step === '' || step === '.' || step === '..') ? null : steps
}

function joinedSteps(folder: readonly string[], steps: readonly string[]): readonly string[] {
  const result = [...folder]
  for (const step of steps) {
    if (step === '..' && result.length > 0 && result.at(-1) !== '..') result.pop()
    else result.push(step)
  }
  return result
}
