/**
 * Reads a JSON text with comments, and changes `command` and `args` of one object in it. All other bytes stay: comments, order,
 * spaces, line ends and a byte order mark.
 */
import { parse, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'
import { listEdit, withEdits, type TextEdit, type TextSpan } from './text-edits.ts'
import type { ServerCommand } from '../stdio/wrapping.ts'

const BYTE_ORDER_MARK = '\uFEFF'
const FORM = { allowTrailingComma: true } as const

/** Throws an Error with the line of the first mistake. */
export function readCommentedJson(text: string): unknown {
  const bare = withoutMark(text)
  if (bare.trim() === '') return {}
  const errors: ParseError[] = []
  const value: unknown = parse(bare, errors, FORM)
  const [first] = errors
  if (first === undefined) return value
  const line = bare.slice(0, first.offset).split('\n').length
  throw new Error(`line ${line}: ${printParseErrorCode(first.error)}`)
}

/** Throws an Error when a member on the way is written twice: readers differ in which one counts. */
export function withJsonCommand(
  text: string,
  path: readonly string[],
  { command, args, isNested }: ServerCommand,
): string {
  const bare = withoutMark(text)
  const entry = entryAt(parseTree(bare, [], FORM), isNested ? [...path, 'command'] : path)
  const program = propertyNamed(entry, isNested ? 'path' : 'command')
  if (program === undefined) throw new Error(`${path.join('.')} names no command`)
  const list = propertyNamed(entry, 'args')
  const edits = [
    replacing(program, JSON.stringify(command)),
    list === undefined ? listBefore(bare, program, args) : changedList(bare, list, args),
  ]
  return text.slice(0, text.length - bare.length) + withEdits(bare, edits)
}

function replacing(member: Node, content: string): TextEdit {
  return { ...spanOf(member.children?.[1] ?? member), content }
}

function spanOf({ offset, length }: Node): TextSpan {
  return { start: offset, end: offset + length }
}

function listBefore(text: string, { offset }: Node, args: readonly string[]): TextEdit {
  const list = `"args": [${args.map((one) => JSON.stringify(one)).join(', ')}],`
  return { start: offset, end: offset, content: `${list}${spaceBefore(text, offset)}` }
}

function changedList(text: string, member: Node, args: readonly string[]): TextEdit {
  const list = member.children?.[1] ?? member
  const items = list.type === 'array' ? (list.children ?? []) : []
  const read = items.map((item) => ({ ...spanOf(item), value: item.type === 'string' ? String(item.value) : null }))
  return listEdit(text, { ...spanOf(list), items: read }, args, (one) => JSON.stringify(one))
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text
}

function entryAt(root: Node | undefined, path: readonly string[]): Node {
  let at = root
  for (const name of path) at = at === undefined ? undefined : propertyNamed(at, name)?.children?.[1]
  if (at === undefined) throw new Error(`there is no object ${path.join('.')}; change it by hand`)
  return at
}

/** The member, not its value. */
function propertyNamed(object: Node, name: string): Node | undefined {
  const [first, second] = (object.children ?? []).filter((member) => member.children?.[0]?.value === name)
  if (second !== undefined) throw new Error(`the member ${JSON.stringify(name)} is there twice; remove one`)
  return first
}

/** A member on a line of its own is followed by such a line. */
function spaceBefore(text: string, offset: number): string {
  return /\r?\n[ \t]*$/.exec(text.slice(0, offset))?.[0] ?? ' '
}
