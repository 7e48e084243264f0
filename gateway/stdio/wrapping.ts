/** A server as a configuration names it, put behind `preflight mcp` and taken from behind it. */
import { isJsonObject } from '../json/strict-json.ts'
import { asName } from './server-list.ts'

/** Program and arguments that run `preflight`. */
export type Invocation = readonly [program: string, ...args: string[]]

/** What is done with a server, or why nothing is. */
export type Wrapping =
  | { readonly kind: 'change'; readonly value: ServerCommand }
  /** `preflight`: how its command runs preflight; empty: it does not. */
  | { readonly kind: 'done'; readonly preflight: readonly string[] }
  | { readonly kind: 'left'; readonly why: string }

/** Members of the entry that change. */
export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
  /** The entry keeps its command in an object of its own, as older versions of Zed do. */
  readonly isNested: boolean
}

interface ReadCommand extends ServerCommand {
  readonly kind: 'command'
}

export function wrapped(name: string, entry: unknown, preflight: Invocation): Wrapping {
  const read = readCommand(entry)
  if (read.kind !== 'command') return read
  if (wrappedAt(read) !== null)
    return { kind: 'done', preflight: [read.command, ...read.args.slice(0, read.args.indexOf('mcp'))] }
  const [command, ...args] = preflight
  const value = [...args, 'mcp', '--name', asName(name), '--', read.command, ...read.args]
  return { kind: 'change', value: { command, args: value, isNested: read.isNested } }
}

export function unwrapped(entry: unknown): Wrapping {
  const read = readCommand(entry)
  if (read.kind !== 'command') return read
  const cut = wrappedAt(read)
  const [command, ...args] = cut === null ? [] : read.args.slice(cut + 1)
  if (command === undefined) return { kind: 'done', preflight: [] }
  return { kind: 'change', value: { command, args, isNested: read.isNested } }
}

function readCommand(entry: unknown): ReadCommand | Extract<Wrapping, { readonly kind: 'left' }> {
  if (!isJsonObject(entry)) return { kind: 'left', why: 'it is not an object' }
  const { command, args } = entry
  if (isJsonObject(command)) {
    const { path, args: inner } = command
    if (typeof path !== 'string') return { kind: 'left', why: 'its command names no program' }
    return { kind: 'command', command: path, args: argumentTexts(inner), isNested: true }
  }
  if (typeof command === 'string') return { kind: 'command', command, args: argumentTexts(args), isNested: false }
  const address = [entry['url'], entry['httpUrl'], entry['serverUrl']].find((one) => typeof one === 'string')
  return typeof address === 'string'
    ? { kind: 'left', why: `it is reached over HTTP (${address}): use preflight mcp --url, or a route of a gateway` }
    : { kind: 'left', why: 'it names no command' }
}

function argumentTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/** Index of the `--` after which the server's own command begins; null: it is not behind preflight. */
function wrappedAt({ command, args }: ServerCommand): number | null {
  const isPreflight = [command, ...args].some((word) =>
    /(?:^|[/\\])preflight(?:-gateway)?(?:\.js)?$/.test(word.replace(/@[^@/]*$/, '')),
  )
  const at = args.indexOf('mcp')
  const cut = args.indexOf('--', at)
  return isPreflight && at !== -1 && cut !== -1 ? cut : null
}
