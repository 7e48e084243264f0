/**
 * Texts in the arguments of a call that may name a file, whatever their member is called. Such a text is a second
 * target (`output_path`, `Path`), or a folder that the path starts from (`cwd`). A change is clear only if none of them
 * leads elsewhere.
 */
import { readJson } from '../contracts/json-text.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../model/limits.ts'
import { normalFilePath } from '../common/file-path.ts'
import { isRecord } from '../schema/located.ts'
import { CHANGED_TEXTS } from './edits.ts'
import { LONGEST_PATH } from './named-files.ts'

interface FurtherPaths {
  /** Texts that have the form or the member name of a path. */
  readonly named: readonly string[]
  /** A path of the change with such a text as a folder above it, beside it, or as its end. */
  readonly joined: readonly string[]
  /** The same with every other text. */
  readonly loose: readonly string[]
}

/**
 * @param paths of the changes that the call states
 * @param starts those of them to which other texts are joined
 * @returns null when there are more of them than can be looked at
 */
export function furtherPaths(
  args: unknown,
  paths: readonly string[],
  starts: readonly string[] = paths,
): FurtherPaths | null {
  const own: ReadonlySet<string> = new Set(paths)
  const given = textsWithMembers(args, '', 0).filter(({ text }) => !own.has(text) && text.trim() !== '')
  const texts = given.filter(({ text }) => text.length <= LONGEST_PATH)
  if (given.some(({ member, text }) => text.length > LONGEST_PATH && PLACE.test(member))) return null
  const letters = texts.reduce((sum, { text }) => sum + text.length, 0)
  if (texts.length * paths.length > MAX_JOINED || letters * paths.length > MAX_LETTERS) return null
  const named = [...new Set(texts.filter(namesPath).map(({ text }) => text))].filter((text) => !/^https?:/i.test(text))
  const others = texts.filter((one) => !namesPath(one)).map(({ text }) => text)
  const withPaths = (ends: readonly string[]): readonly string[] =>
    starts.flatMap((path) => ends.flatMap((text) => joinedPaths(path, text)))
  return { named, joined: withPaths(named), loose: withPaths([...new Set(others)]) }
}

function namesPath({ member, text }: MemberText): boolean {
  return PLACE.test(member) || PATH_FORM.test(text.trim())
}

/** Each is read in many ways: together a second at most. */
const MAX_JOINED = 1000
const MAX_LETTERS = 50_000

function joinedPaths(path: string, text: string): readonly string[] {
  const [, folder = '', name = ''] = /^(.*[/\\])?([^/\\]*)$/s.exec(path) ?? []
  // A name with an ending is no folder, and has its end.
  const ends = name.includes('.') ? [] : [`${path}/${text}`, `${path}${text}`]
  return [...(normalFilePath(path).startsWith('/') ? [] : [`${text}/${path}`]), `${folder}${text}`, ...ends]
}

/** Member names of places, in any letters and with any separators. */
const PLACE =
  /path|file|dir|folder|cwd|root|base|dest|target|output|^out$|workspace|ur[il]|rename|move|copy|link|^(?:to|as|into)$/i
/** A slash, or an ending that begins with a letter. Dates, times, numbers of versions and addresses of people are none. */
const PATH_FORM = /^(?=.*\p{L}).*[/\\]|^[^\s.@]*\.[a-z]\w{0,15}$/isu
/** Members that say how, why or in which version. */
const HOW: ReadonlySet<string> = new Set([
  ...(['encoding', 'mode', 'command', 'description', 'explanation', 'instruction', 'instructions', 'reason'] as const),
  ...(['language', 'eol', 'type', 'title', 'message', 'comment', 'id'] as const),
  ...(['mimeType', 'mime_type', 'contentType', 'content_type', 'mediaType', 'media_type', 'charset'] as const),
  // Where a version of the file is, not which file.
  ...(['owner', 'repo', 'branch', 'ref', 'sha'] as const),
])

interface MemberText {
  readonly member: string
  readonly text: string
}

const MAX_DEPTH = 64

function textsWithMembers(value: unknown, member: string, depth: number): readonly MemberText[] {
  if (depth > MAX_DEPTH) return []
  const within = (inner: unknown, name: string): readonly MemberText[] => textsWithMembers(inner, name, depth + 1)
  if (typeof value === 'string') {
    const read = /^\s*[[{]/.test(value) ? readJson(value, DEFAULT_DOCUMENT_LIMITS) : null
    return read?.ok === true ? within(read.value, member) : [{ member, text: value }]
  }
  if (Array.isArray(value)) return value.flatMap((item) => within(item, member))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    // A table of files has their paths as names.
    const key = PATH_FORM.test(name) ? [{ member: 'path', text: name }] : []
    const isOther = typeof inner === 'string' && (CHANGED_TEXTS.has(name) || HOW.has(name))
    return isOther ? key : [...key, ...within(inner, name)]
  })
}
