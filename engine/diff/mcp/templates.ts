/** Templates of addresses (RFC 6570) that still give the addresses of another template. */
import { keysOfBoth } from '../match.ts'
import type { McpItem, McpItems } from '../../contracts/mcp-manifest.ts'

/** A literal, or an expression with its operator and variables. */
interface AddressPart {
  readonly text: string
  readonly operator: string | null
  readonly variables: readonly string[]
}

/** Operators whose variables are named in the address, and which give nothing without a value. */
const NAMED: ReadonlySet<string | null> = new Set([';', '?', '&'])

/**
 * Templates of the base that the head lacks, by the template of the head that gives all of their addresses. Its variables have
 * other names, or it has more parameters, which may be left out.
 */
export function rewrittenTemplates(before: McpItems, after: McpItems): ReadonlyMap<string, McpItem> {
  const [removed, added] = [withoutNames(before, after), withoutNames(after, before)]
  const found = new Map<string, McpItem>()
  const readers = added.map(({ name }) => ({ name, parts: templateParts(name) }))
  for (const item of removed) {
    const parts = templateParts(item.name)
    const match = readers.find(({ name, parts: wider }) => !found.has(name) && givesAll(parts, wider))
    if (match !== undefined) found.set(match.name, item)
  }
  return found
}

function withoutNames(items: McpItems, others: McpItems): readonly McpItem[] {
  return keysOfBoth(items.keys(), []).flatMap((name) => {
    const item = items.get(name)
    return item === undefined || others.has(name) ? [] : [item]
  })
}

/** The name of a variable has no effect on the address, unless an operator writes it there. */
function templateParts(template: string): readonly AddressPart[] {
  const read = [...template.matchAll(/\{([+#./;?&|!@=,]?)([^{}]*)\}|[^{}]+|[{}]/g)].map(
    ([text, operator, variables]): AddressPart =>
      variables === undefined
        ? { text, operator: null, variables: [] }
        : { text: '', operator: operator ?? '', variables: variables.split(',') },
  )
  const named = new Set(
    read.flatMap(({ operator, variables }) => (NAMED.has(operator) ? variables.map(variableName) : [])),
  )
  const places = new Map<string, string>()
  const inPlace = (variable: string): string => {
    const name = variableName(variable)
    if (named.has(name)) return variable
    const place = places.get(name) ?? `{${places.size}}`
    places.set(name, place)
    return place + variable.slice(name.length)
  }
  return read.map((part) => ({ ...part, variables: part.variables.map(inPlace) }))
}

/** Without `*` and `:3`. */
function variableName(variable: string): string {
  return variable.replace(/(?:\*|:\d+)$/, '')
}

function givesAll(before: readonly AddressPart[], after: readonly AddressPart[]): boolean {
  let index = 0
  for (const part of after) {
    const known = before[index]
    if (known !== undefined && isExtended(known, part)) index += 1
    else if (!NAMED.has(part.operator)) return false
  }
  return index === before.length
}

function isExtended(before: AddressPart, after: AddressPart): boolean {
  if (before.text !== after.text || before.operator !== after.operator) return false
  const isLonger = NAMED.has(after.operator) ? before.variables.length <= after.variables.length : false
  const isKept = before.variables.every((variable, index) => variable === after.variables[index])
  return isKept && (isLonger || before.variables.length === after.variables.length)
}
