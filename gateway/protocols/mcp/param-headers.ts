/**
 * The Mcp-Param headers of 2026-07-28: copies of arguments that a tool asks for by `x-mcp-header` in its inputSchema. A server
 * that trusts a copy must not see another argument than the one judged.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isJsonObject } from '../../json/strict-json.ts'
import { recordIn } from '../../json/unchecked-json.ts'
import { decodedName } from './name-header.ts'

const PREFIX = 'mcp-param-'

/** Null in the common case: there are none. */
export function paramHeaders(headers: IncomingHttpHeaders): ReadonlyMap<string, string> | null {
  let found: Map<string, string> | null = null
  for (const name in headers) {
    if (!name.startsWith(PREFIX)) continue
    found ??= new Map()
    found.set(name.slice(PREFIX.length), String(headers[name]))
  }
  return found
}

/** The first header that differs from the argument it repeats; null: none does. Servers do not read those that the tool does not ask for. */
export function differingParam(sent: ReadonlyMap<string, string>, inputSchema: unknown, args: unknown): string | null {
  for (const [name, value] of copiesIn(inputSchema, args)) {
    const text = sent.get(name)
    if (text !== undefined && !isCopy(decodedName(text), value)) return name
  }
  return null
}

/** Name in lower case, and the argument. Copies are asked for at any depth of `properties`, and nowhere else. */
function* copiesIn(schema: unknown, value: unknown): Generator<readonly [name: string, value: unknown], void> {
  const properties = isJsonObject(schema) ? schema['properties'] : null
  if (!isJsonObject(properties)) return
  const members = recordIn(value)
  for (const [member, property] of Object.entries(properties)) {
    const argument = Object.hasOwn(members, member) ? members[member] : undefined
    const name = isJsonObject(property) ? property['x-mcp-header'] : null
    if (typeof name === 'string') yield [name.toLowerCase(), argument]
    yield* copiesIn(property, argument)
  }
}

/** Numbers have several spellings (42, 42.0). */
function isCopy(text: string, argument: unknown): boolean {
  if (typeof argument === 'number') return /^-?\d+(?:\.\d+)?$/.test(text) && Number(text) === argument
  return typeof argument === 'string' || typeof argument === 'boolean' ? text === String(argument) : false
}
