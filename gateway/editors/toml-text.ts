/**
 * Reads a TOML text, and changes `command` and `args` of one server in it, whatever form its table has. All other bytes stay. The
 * result is read again: a form that this does not understand is an error, never a damaged file.
 */
import { isDeepStrictEqual } from 'node:util'
import { parse, stringify, TomlError } from 'smol-toml'
import { isJsonObject } from '../json/strict-json.ts'
import { listEdit, withEdits, type ListItem, type TextEdit } from './text-edits.ts'
import { tomlMembers, type TomlMember } from './toml-members.ts'
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

/** Throws an Error when the form is not understood. */
export function withTomlCommand(
  text: string,
  path: readonly string[],
  { command, args, isNested }: ServerCommand,
): string {
  const table = isNested ? [...path, 'command'] : path
  const name = isNested ? 'path' : 'command'
  const members = tomlMembers(text)
  const at = (...rest: readonly string[]): readonly TomlMember[] =>
    members.filter((member) => isDeepStrictEqual(member.path, [...table, ...rest]))
  const [program] = at(name)
  const [list] = at('args')
  if (program !== undefined) {
    const items = list === undefined ? [] : itemsOf(text, members, list)
    const edits = [
      { start: program.start, end: program.end, content: written(command) },
      list === undefined ? listBefore(text, program, args) : listEdit(text, { ...list, items }, args, written),
    ]
    const edited = withEdits(text, edits)
    if (isDeepStrictEqual(parsed(edited), expected(text, table, { [name]: command, args }))) return edited
  }
  throw new Error(`the server ${path.join('.')} has a form that is not edited here; change it by hand`)
}

/** A list that was not there, before the command and in its form. */
function listBefore(text: string, { keyStart, nameStart, isInline }: TomlMember, args: readonly string[]): TextEdit {
  const lineStart = text.lastIndexOf('\n', keyStart - 1) + 1
  const lineEnd = text.slice(keyStart).match(/\r?\n/)?.[0] ?? '\n'
  const between = isInline ? ', ' : `${lineEnd}${/^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? ''}`
  const member = `${text.slice(keyStart, nameStart)}args = [${args.map(written).join(', ')}]`
  return { start: keyStart, end: keyStart, content: `${member}${between}` }
}

function itemsOf(text: string, members: readonly TomlMember[], list: TomlMember): readonly ListItem[] {
  return members
    .filter(({ path }) => path.length === list.path.length + 1 && isDeepStrictEqual(path.slice(0, -1), list.path))
    .map(({ start, end }) => {
      const value = Object.values(parse(`value = ${text.slice(start, end)}`))[0]
      return { start, end, value: typeof value === 'string' ? value : null }
    })
}

function written(value: string): string {
  return stringify({ value }).trimEnd().slice('value = '.length)
}

function parsed(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return null
  }
}

function expected(text: string, table: readonly string[], values: object): unknown {
  const value: unknown = parse(text)
  let at: unknown = value
  for (const member of table) at = isJsonObject(at) ? at[member] : undefined
  if (typeof at === 'object' && at !== null) Object.assign(at, values)
  return value
}
