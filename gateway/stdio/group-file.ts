/** The file of `preflight mcp serve`: servers as editors name them, as JSON with comments or YAML. */
import { parse as parseJson, printParseErrorCode, type ParseError } from 'jsonc-parser'
import { formatMistake } from '../errors/mistake.ts'
import { unwrapped } from './wrapping.ts'
import { isJsonObject, type JsonObject } from '../json/strict-json.ts'
import { readSourceText } from '../settings/source-text.ts'
import { asName, headerProblem, isServerAddress } from './server-list.ts'

export interface ListedServer {
  readonly name: string
  readonly reach:
    | {
        readonly kind: 'program'
        readonly command: readonly string[]
        readonly variables: Readonly<Record<string, string>>
        /** Absent: that of this process. */
        readonly directory?: string
      }
    | { readonly kind: 'http' | 'sse'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
}

/** Members under which editors list their servers. */
const LISTED_UNDER = ['mcpServers', 'servers', 'context_servers']

/** @param expand replaces variables. Throws an Error that names the entry, and what it lacks, or the file and the line. */
export function serversOfFile(file: string, text: string, expand: (text: string) => string): readonly ListedServer[] {
  const value = readListing(file, text)
  const member = LISTED_UNDER.find((name) => isJsonObject(value) && isJsonObject(value[name]))
  const entries = isJsonObject(value) && member !== undefined ? value[member] : null
  if (!isJsonObject(entries) || Object.keys(entries).length === 0)
    throw new Error(
      `it lists no servers: name them under ${LISTED_UNDER.join(', ')}, each with command and args, or url`,
    )
  const servers = Object.entries(entries)
    .filter(([, entry]) => !isJsonObject(entry) || entry['disabled'] !== true)
    .map(([name, entry]) => listedServer(name, entry, expand))
  const twice = servers.find(({ name }, index) => servers.some((other, at) => at < index && other.name === name))
  if (twice !== undefined) throw new Error(`two servers have the name ${twice.name} once it is lower-case; rename one`)
  return servers
}

function readListing(file: string, text: string): unknown {
  if (!/^\s*[{/]/.test(text)) {
    const source = readSourceText(file, text)
    if (!source.ok) throw new Error(source.problem.map(formatMistake).join('\n'))
    return source.value.value
  }
  const errors: ParseError[] = []
  const value: unknown = parseJson(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first === undefined) return value
  throw new Error(`line ${text.slice(0, first.offset).split('\n').length}: ${printParseErrorCode(first.error)}`)
}

function listedServer(given: string, entry: unknown, expand: (text: string) => string): ListedServer {
  const name = asName(given)
  if (!/^[a-z]/.test(name)) throw new Error(`${given}: a name begins with a letter, since names of tools begin with it`)
  if (!isJsonObject(entry)) throw new Error(`${given}: it is not an object`)
  const texts = (member: string) => listedTexts(given, member, entry[member], expand)
  const url = [entry['url'], entry['httpUrl'], entry['serverUrl']].find((one) => typeof one === 'string')
  if (typeof url === 'string') {
    const address = expand(url)
    if (!isServerAddress(address))
      throw new Error(`${given}: url ${JSON.stringify(url)} is not an address (http:// or https://)`)
    const fields = texts('headers')
    const [problem] = Object.entries(fields).flatMap(([field, value]) => headerProblem(field, value) ?? [])
    if (problem !== undefined) throw new Error(`${given}: ${problem}`)
    const headers = Object.entries(fields).map(([field, value]) => [field.toLowerCase(), value])
    const kind = entry['type'] === 'sse' ? 'sse' : 'http'
    return { name, reach: { kind, url: address, headers: Object.fromEntries(headers) } }
  }
  const directory = entry['cwd']
  return {
    name,
    reach: {
      kind: 'program',
      command: listedCommand(given, entry).map(expand),
      variables: texts('env'),
      ...(typeof directory === 'string' ? { directory: expand(directory) } : {}),
    },
  }
}

/** The server itself, also when the editor starts it behind preflight already. */
function listedCommand(name: string, entry: JsonObject): readonly string[] {
  const { command, args } = entry
  const own = unwrapped(entry)
  if (own.kind === 'change') return [own.value.command, ...own.value.args]
  if (typeof command !== 'string' || command === '') throw new Error(`${name}: it needs a command, or a url`)
  return [command, ...(Array.isArray(args) ? args.map(String) : [])]
}

function listedTexts(
  name: string,
  member: string,
  value: unknown,
  expand: (text: string) => string,
): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {}
  if (!isJsonObject(value)) throw new Error(`${name}: ${member} is not an object`)
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, expand(String(one))]))
}
