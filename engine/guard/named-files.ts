/**
 * The texts in the arguments of a call that may be paths of changed files. Each is read in many ways, so there is a bound
 * on their number and length: whoever sends more keeps nobody else waiting.
 */
import { normalFilePath } from '../common/file-path.ts'
import { percentDecoded } from '../common/percent-decoding.ts'
import { isRecord, type JsonRecord } from '../schema/located.ts'

export const FILE_ARGUMENTS = [
  ...(['path', 'file_path', 'filePath', 'filename', 'file', 'filepath', 'file_name', 'fileName'] as const),
  ...(['relative_path', 'relativePath', 'absolute_path', 'absolutePath', 'target_file', 'targetFile', 'uri'] as const),
  ...(['paths', 'file_paths', 'filePaths'] as const),
] as const
export const PATCHES = ['patch', 'diff'] as const

export function pairsIn(...lines: readonly string[]): readonly (readonly string[])[] {
  return lines.flatMap((line) => line.split(' ').map((pair) => pair.split(':')))
}

/** A file that takes the place of another. */
export const ENDS_OF_MOVES = pairsIn(
  'source:destination src:dst src:dest from:to old_path:new_path oldPath:newPath path:new_path path:newPath',
  'source_path:destination_path sourcePath:destinationPath source_path:target_path sourcePath:targetPath',
  'source:target path:destination from_path:to_path fromPath:toPath source_file:target_file path:new_name',
  'path:newName old_uri:new_uri oldUri:newUri old_name:new_name oldName:newName source_uri:target_uri',
)

/** A longer text is no path that a system opens. */
export const LONGEST_PATH = 4096
/** Names of one call, and their weight: together a second at most. */
const MOST_NAMES = 5000
const MOST_WEIGHT = 500_000
/** Of a word in a patch; a heavier one is code. */
const HEAVIEST_WORD = 50_000

const SEPARATORS = /[/\\\u2044\u2215\u29F8\u2216\u29F5]/g

/** What it takes to look at a path: globs are matched against all its letters, below each of its folders. */
function weightOf(path: string): number {
  if (path.length > LONGEST_PATH) return Number.POSITIVE_INFINITY
  const decoded = percentDecoded(percentDecoded(percentDecoded(path))).normalize('NFKC')
  return path.length * (1 + (decoded.match(SEPARATORS)?.length ?? 0))
}

/** The paths, each once. Null: they are more, or longer, than can be looked at. */
export function boundedPaths(paths: Iterable<string>): readonly string[] | null {
  const found = new Set<string>()
  let weight = 0
  for (const path of paths) {
    if (found.has(path)) continue
    weight += weightOf(path)
    if (found.size >= MOST_NAMES || weight > MOST_WEIGHT) return null
    found.add(path)
  }
  return [...found]
}

/** Every text that may be the path of a changed file. */
export function* mentionedPaths(args: JsonRecord): Generator<string> {
  const files: readonly unknown[] = Array.isArray(args['files']) ? args['files'] : []
  for (const place of [args, ...files.filter(isRecord)])
    for (const name of FILE_ARGUMENTS) yield* textsWithin(place[name])
  for (const file of files) if (!isRecord(file)) yield* textsWithin(file)
  for (const name of PATCHES) for (const patch of textsWithin(args[name])) yield* pathsInPatch(patch)
}

/** A line that names a file, whose name may hold blanks; git and diff put a tab behind it. */
const PATCH_HEAD = /^(?:---|\+\+\+|\*{3}(?: \w{1,20} File:)?|(?:rename|copy) (?:from|to)|Index:) ([^\t\r\n]+)/gm

function* pathsInPatch(patch: string): Generator<string> {
  for (const [, path = ''] of patch.matchAll(PATCH_HEAD)) yield* suffixesOf(path)
  for (const [word] of patch.matchAll(/\S+/g)) {
    // Most long words are code. A path may be padded by folders that lead nowhere.
    const path = weightOf(word) <= HEAVIEST_WORD ? word : normalFilePath(word)
    if (weightOf(path) <= HEAVIEST_WORD) yield* suffixesOf(path)
  }
}

/** Tools take any number of folders off the names in a patch. */
function* suffixesOf(path: string): Generator<string> {
  yield path
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) yield path.slice(slash + 1)
}

interface FileMove {
  readonly from: string
  readonly to: string
}

/** Every pair of texts that may be the ends of a move or copy. Null: they are more than can be looked at. */
export function boundedMoves(layers: readonly JsonRecord[]): readonly FileMove[] | null {
  const found: FileMove[] = []
  for (const layer of layers)
    for (const [from = '', to = ''] of ENDS_OF_MOVES)
      for (const source of textsWithin(layer[from]))
        for (const target of textsWithin(layer[to])) {
          if (found.length >= MOST_NAMES) return null
          found.push({ from: source, to: target })
        }
  return found
}

export function* chained<T>(...parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part
}

function* textsWithin(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* textsWithin(item)
  else if (isRecord(value)) for (const member of Object.values(value)) yield* textsWithin(member)
}
