/** The servers in one configuration file of an editor, and the text of the file with changed ones. Comments stay. */
import { applyEdits, modify, parse, printParseErrorCode, type JSONPath, type ParseError } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { isJsonObject } from '../json/strict-json.ts'
import type { EditorFile } from './places.ts'
import { withTomlCommand } from './toml-text.ts'
import type { ServerCommand } from '../stdio/wrapping.ts'

export interface ConfiguredServer {
  readonly name: string
  readonly path: readonly string[]
  readonly entry: unknown
}

/** Throws an Error when the text cannot be read. */
export function serversIn(
  text: string,
  { format, servers }: Pick<EditorFile, 'format' | 'servers'>,
): readonly ConfiguredServer[] {
  const value = format === 'toml' ? parseToml(text) : readJson(text)
  return servers.flatMap((path) => serversAt(value, path, []))
}

function readJson(text: string): unknown {
  if (text.trim() === '') return {}
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first === undefined) return value
  const line = text.slice(0, first.offset).split('\n').length
  throw new Error(`line ${line}: ${printParseErrorCode(first.error)}`)
}

function serversAt(value: unknown, path: readonly string[], taken: readonly string[]): readonly ConfiguredServer[] {
  if (!isJsonObject(value)) return []
  const [next, ...rest] = path
  if (next === undefined) return Object.entries(value).map(([name, entry]) => ({ name, path: [...taken, name], entry }))
  const members = next === '*' ? Object.keys(value) : Object.hasOwn(value, next) ? [next] : []
  return members.flatMap((member) => serversAt(value[member], rest, [...taken, member]))
}

/** Throws an Error when the file has a form that cannot be edited. */
export function withCommand(
  text: string,
  { format }: Pick<EditorFile, 'format'>,
  path: readonly string[],
  command: ServerCommand,
): string {
  return format === 'toml' ? withTomlCommand(text, path, command) : withJsonCommand(text, path, command)
}

function withJsonCommand(text: string, path: readonly string[], { command, args, isNested }: ServerCommand): string {
  const at: JSONPath = isNested ? [...path, 'command'] : [...path]
  const formattingOptions = {
    insertSpaces: !/^\t/m.test(text),
    tabSize: indentOf(text),
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
  const named = applyEdits(text, modify(text, [...at, isNested ? 'path' : 'command'], command, { formattingOptions }))
  return applyEdits(named, modify(named, [...at, 'args'], args, { formattingOptions }))
}

function indentOf(text: string): number {
  return /^( +)\S/m.exec(text)?.[1]?.length ?? 2
}
