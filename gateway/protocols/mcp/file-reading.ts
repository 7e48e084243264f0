/** Files as an MCP server shows them: read with a tool that its own manifest offers, in the caller's session. */
import { FILE_ARGUMENTS, type Problem } from '../../../engine/internal.ts'
import type { BaselineText } from '../../baselines/baselines.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import type { FileAtCommit } from '../../scm/platform.ts'
import { askServer, reasonOf, type McpAsker } from './gateway-requests.ts'
import { itemIn, itemNames } from './manifest-text.ts'
import type { Params } from './json-rpc.ts'
import { isJsonObject, readStrictJsonText } from '../../json/strict-json.ts'

/** Reads files of one server, each once. */
export interface FileReading {
  read(path: string): Promise<FileAtCommit>
  /** The same, whatever was read before. */
  again(path: string): Promise<FileAtCommit>
  /** The files below a folder. */
  below(path: string): Promise<FolderFiles>
}

/** `names` are relative to the folder. `none`: no folder has this path. */
type FolderFiles =
  | { readonly kind: 'files'; readonly names: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

interface FileReadingOptions {
  readonly asker: McpAsker
  readonly manifest: BaselineText
  /** Tools that the configuration names; empty: those that are known. */
  readonly tools: readonly string[]
  /** Arguments of the call that is judged: what they say of the place (a repository, a branch) holds for reading too. */
  readonly args: Params
  readonly upstreams: Upstreams
  readonly questions: QuestionCount
}

/** Questions to the server about files, counted over all calls of one request. */
export interface QuestionCount {
  asked: number
}

/** Names of tools that read whole files, without case and punctuation, the plainest first. */
const READERS = [
  'readtextfile',
  'readfile',
  'readfilecontent',
  'readfilecontents',
  'fileread',
  'fsread',
  'getfilecontents',
  'getfilecontent',
  'getfile',
  'viewfile',
  'openfile',
  'catfile',
  'read',
  'cat',
] as const

/** Words by which servers say that a file is not there, as the system words it. */
const ABSENT = /\bENOENT\b|no such file/i

interface Reader {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

export function createFileReading(options: FileReadingOptions): FileReading {
  const known = new Map<string, Promise<FileAtCommit>>()
  return {
    read(path) {
      const file = known.get(path) ?? readFile(path, options)
      known.set(path, file)
      return file
    },
    again: (path) => readFile(path, options),
    async below(path) {
      const listed = await treeBelow(path, options)
      if (listed.kind !== 'unknown') return listed
      // A server that shows no files has none; what reads as a text is one.
      if (FILE_NAME.test(path) || readerFor(path, options) === null) return NO_FOLDER
      return (await this.read(path)).kind === 'unreadable' ? listed : NO_FOLDER
    },
  }
}

const NO_FOLDER = { kind: 'none' } as const
const UNKNOWN_FOLDER = { kind: 'unknown' } as const
/** The last name has an extension: what a server without a tree of its folders calls so is taken for a file. */
const FILE_NAME = /[^/\\]\.[A-Za-z0-9]+$/

/** Names of tools that show a folder with all that is in it, without case and punctuation. */
const TREES = ['directorytree'] as const
const NOT_A_FOLDER = /\bENOTDIR\b|not a directory/i

async function treeBelow(path: string, options: FileReadingOptions): Promise<FolderFiles> {
  const { manifest, args } = options
  const [reader] = readersAmong(knownTools(TREES, itemNames('tools', manifest)), path, { manifest, args })
  if (reader === undefined) return UNKNOWN_FOLDER
  try {
    const result = await askReader(reader, options)
    const [text = '', ...others] = textsOfContent(result['content'])
    if (result['isError'] === true) return ABSENT.test(text) || NOT_A_FOLDER.test(text) ? NO_FOLDER : UNKNOWN_FOLDER
    const tree = others.length === 0 ? readStrictJsonText(text) : null
    const names = tree?.ok === true ? filesOfTree(tree.value, '') : null
    return names === null ? UNKNOWN_FOLDER : { kind: 'files', names }
  } catch {
    // Whatever went wrong: the files are not known.
    return UNKNOWN_FOLDER
  }
}

/** `[{ name, type, children }]`. Null: it is no such list. */
function filesOfTree(entries: unknown, folder: string): readonly string[] | null {
  if (!Array.isArray(entries)) return null
  const files: string[] = []
  for (const entry of entries as readonly unknown[]) {
    if (!isJsonObject(entry) || typeof entry['name'] !== 'string') return null
    const name = folder + entry['name']
    const within = entry['children'] === undefined ? null : filesOfTree(entry['children'], `${name}/`)
    if (within === null && entry['type'] !== 'file') return null
    files.push(...(within ?? [name]))
  }
  return files
}

async function readFile(path: string, options: FileReadingOptions): Promise<FileAtCommit> {
  const reader = readerFor(path, options)
  if (reader === null)
    return missingPrior(path, 'the server offers no tool that is known to read it; route.edits.read can name one')
  try {
    return fileIn(path, reader.tool, await askReader(reader, options))
  } catch (error) {
    return missingPrior(path, `${reader.tool}: ${reasonOf(error)}`)
  }
}

function askReader(
  { tool: name, args }: Reader,
  { asker, upstreams, questions }: FileReadingOptions,
): Promise<Readonly<Record<string, unknown>>> {
  questions.asked += 1
  const signal = AbortSignal.timeout(asker.call.route.timeout.headers * 1000)
  return askServer(asker, { method: 'tools/call', params: { name, arguments: args }, name }, upstreams, signal)
}

function fileIn(path: string, tool: string, result: Readonly<Record<string, unknown>>): FileAtCommit {
  const texts = textsOfContent(result['content'])
  if (result['isError'] === true)
    return texts.some((text) => ABSENT.test(text))
      ? { kind: 'absent' }
      : missingPrior(path, `${tool} answered with an error`)
  const [text, ...others] = texts
  return text === undefined || others.length > 0
    ? missingPrior(path, `${tool} answered no single text`)
    : { kind: 'text', text }
}

/** Texts of embedded resources where there are any: the other texts are about the file. */
function textsOfContent(content: unknown): readonly string[] {
  const items: readonly unknown[] = Array.isArray(content) ? content : []
  const resources = items.flatMap((item) =>
    isJsonObject(item) && isJsonObject(item['resource']) ? [item['resource']] : [],
  )
  const holders = resources.length > 0 ? resources : items.filter(isJsonObject)
  return holders.map(({ text }) => text).filter((text) => typeof text === 'string')
}

function missingPrior(path: string, why: string): FileAtCommit {
  const problem: Problem = {
    code: 'MISSING_PRIOR_CONTENT',
    message: `${path} cannot be compared with what it was: ${why}.`,
  }
  return { kind: 'unreadable', problem }
}

function readerFor(path: string, { manifest, tools, args }: FileReadingOptions): Reader | null {
  const names = tools.length > 0 ? tools : knownTools(READERS, itemNames('tools', manifest))
  return readersAmong(names, path, { manifest, args })[0] ?? null
}

function readersAmong(
  names: readonly string[],
  path: string,
  { manifest, args }: Pick<FileReadingOptions, 'manifest' | 'args'>,
): readonly Reader[] {
  return names.flatMap((tool) => {
    const schema = itemIn('tools', tool, manifest)?.['inputSchema']
    const readerArgs = isJsonObject(schema) ? argumentsFor(path, schema, args) : null
    return readerArgs === null ? [] : [{ tool, args: readerArgs }]
  })
}

function knownTools(known: readonly string[], offered: ReadonlySet<string>): readonly string[] {
  const plain = new Map([...offered].map((name) => [name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''), name]))
  return known.flatMap((name) => plain.get(name) ?? [])
}

/** Null when the tool takes no path, or asks for something that the call at hand does not say. */
function argumentsFor(path: string, schema: Params, call: Params): Reader['args'] | null {
  const properties = isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : []
  const place = FILE_ARGUMENTS.find((name) => properties.includes(name))
  if (place === undefined) return null
  const shared = properties.filter((name) => isLocationName(name) && typeof call[name] === 'string')
  const branch = properties.includes('ref') && call['ref'] === undefined ? call['branch'] : undefined
  const args = {
    ...Object.fromEntries(shared.map((name) => [name, call[name]])),
    ...(typeof branch === 'string' && { ref: `refs/heads/${branch}` }),
    [place]: path,
  }
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  return required.every((name) => typeof name === 'string' && Object.hasOwn(args, name)) ? args : null
}

/** Arguments that say in which repository or folder a file lies. */
const PLACES = [
  'owner',
  'repo',
  'repository',
  'project',
  'project_id',
  'projectId',
  'workspace',
  'repo_slug',
  'branch',
  'ref',
  'repo_path',
  'root',
]

function isLocationName(name: string): boolean {
  return PLACES.includes(name)
}
