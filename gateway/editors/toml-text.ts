/**
 * Changes `command` and `args` of one table in a TOML text, and nothing else. The text is edited by lines, and the result is
 * read again: a form that this does not understand is an error, never a damaged file.
 */
import { isDeepStrictEqual } from 'node:util'
import { parse, stringify, TomlError } from 'smol-toml'
import { isJsonObject } from '../json/strict-json.ts'
import type { ServerCommand } from '../stdio/wrapping.ts'

/** Throws an Error with the line of the mistake. */
export function readToml(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [what = ''] = error.message.split('\n')
    throw new Error(`line ${error.line}: ${what}`, { cause: error })
  }
}

export function withTomlCommand(text: string, path: readonly string[], { command, args }: ServerCommand): string {
  const lines = text.split('\n')
  const [start, end] = tableAt(lines, path)
  const body = withKey(withKey(lines.slice(start, end), 'command', command), 'args', args)
  const edited = [...lines.slice(0, start), ...body, ...lines.slice(end)].join('\n')
  if (isDeepStrictEqual(parsed(edited), expected(text, path, command, args))) return edited
  throw new Error(`the table [${path.join('.')}] has a form that is not edited here; change it by hand`)
}

function parsed(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return null
  }
}

function expected(text: string, path: readonly string[], command: string, args: readonly string[]): unknown {
  const value: unknown = parse(text)
  let at: unknown = value
  for (const member of path) at = isJsonObject(at) ? at[member] : undefined
  if (typeof at === 'object' && at !== null) Object.assign(at, { command, args })
  return value
}

/** First line after the header of the table, and the line after its last one. */
function tableAt(lines: readonly string[], path: readonly string[]): readonly [number, number] {
  const start = lines.findIndex((line) => isDeepStrictEqual(headerOf(line.trimEnd()), path)) + 1
  if (start === 0) throw new Error(`there is no table [${path.join('.')}]; change it by hand`)
  const length = lines.slice(start).findIndex((line) => /^\s*\[/.test(line) && headerOf(line.trimEnd()) !== null)
  return [start, length === -1 ? lines.length : start + length]
}

/** Names of `[a."b c"]`; null: the line is no header of a table. */
function headerOf(line: string): readonly string[] | null {
  if (!/^\s*\[[^[]/.test(line)) return null
  const value = parsed(line)
  const names: string[] = []
  for (let at = value; isJsonObject(at); at = Object.values(at)[0]) {
    const [name] = Object.keys(at)
    if (name === undefined) return names
    names.push(name)
  }
  return null
}

/** Replaces the value of a key, which may go over several lines, or adds the key. */
function withKey(body: readonly string[], key: string, value: unknown): readonly string[] {
  const written = stringify({ [key]: value }).trimEnd()
  const start = body.findIndex((line) => new RegExp(String.raw`^\s*${key}\s*=`).test(line))
  if (start === -1) return [`${written}${lineEnd(body[0] ?? '')}`, ...body]
  for (let end = start + 1; end <= body.length; end += 1) {
    const taken = parsed(body.slice(start, end).join('\n').trimEnd())
    const last = body[end - 1] ?? ''
    if (taken !== null)
      return [...body.slice(0, start), `${written}${commentOf(last.trimEnd())}${lineEnd(last)}`, ...body.slice(end)]
  }
  throw new Error(`the value of ${key} does not end; change it by hand`)
}

/** What is before the line feed. */
function lineEnd(line: string): string {
  return line.endsWith('\r') ? '\r' : ''
}

/** A comment behind the value. */
function commentOf(line: string): string {
  const [, comment] = /^[^"'#]*(?:"[^"]*"[^"'#]*|'[^']*'[^"'#]*)*(#.*)$/.exec(line) ?? []
  return comment === undefined ? '' : ` ${comment}`
}
