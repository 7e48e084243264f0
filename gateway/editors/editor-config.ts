/** The servers in one configuration file of an editor, and the text of the file with changed ones. Comments stay. */
import { isJsonObject } from '../json/strict-json.ts'
import { readCommentedJson, withJsonCommand } from './json-text.ts'
import type { EditorFile } from './places.ts'
import { readToml, withTomlCommand } from './toml-text.ts'
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
  const value = format === 'toml' ? readToml(text) : readCommentedJson(text)
  return servers.flatMap((path) => serversAt(value, path, []))
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
