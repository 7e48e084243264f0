/**
 * The texts of a manifest that models read: how descriptions changed, and what in new texts looks written to take a model
 * over. Descriptions are compared where both sides have what they describe; every string is looked at for signs.
 */
import type { McpItem } from '../../contracts/mcp-manifest.ts'
import { appendPointer, composePointer } from '../../contracts/pointer.ts'
import { findSuspicions } from '../../rules/mcp/suspicion.ts'
import { compareWording } from '../../rules/mcp/wording.ts'
import { isRecord, pointerOf, type Located } from '../../schema/located.ts'
import type { McpReport } from './report.ts'

/** Members whose text describes the object that holds them. */
const DESCRIBING = ['description', 'title'] as const

/** Members that hold values, not descriptions: what stands in them is data, however it is called. */
const DATA_MEMBERS: ReadonlySet<string> = new Set([
  'default',
  'const',
  'enum',
  'examples',
  'example',
  'input_examples',
  '_meta',
])

/** Members that map names to what they name: `properties.title` is a property, not a title. */
const MAP_MEMBERS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/** Compares the descriptions within an item that both sides have, and looks at what is new in it. */
export function compareTexts(
  before: McpItem,
  after: McpItem,
  tool: string | null,
  kind: string,
  report: McpReport,
): void {
  const old = describedParts(before.value)
  for (const [path, part] of describedParts(after.value)) {
    const was = old.get(path)
    if (was === undefined) continue
    for (const member of DESCRIBING) {
      const wording = compareWording(was.texts[member], part.texts[member])
      if (wording.kind === 'same') continue
      const isGone = part.texts[member] === ''
      report.say({
        rule: wording.kind === 'changed' ? 'mcp-description-changed' : 'mcp-description-reworded',
        tool,
        subject: `${kind}${path}/${member}`,
        side: isGone ? 'base' : 'head',
        location: `${pointerOf(isGone ? before.at : after.at)}${path}/${member}`,
        name: nounOf(part.tokens, kind),
        before: was.texts[member] === '' ? null : was.texts[member],
        after: isGone ? null : part.texts[member],
        detail: wording.difference,
      })
    }
  }
  findNewSigns(before, after, tool, kind, report)
}

interface DescribedPart {
  readonly tokens: readonly string[]
  readonly texts: Readonly<Record<(typeof DESCRIBING)[number], string>>
}

/** Every object below `root` that can be described, by its JSON Pointer there. Depth is bounded by reading. */
function describedParts(root: unknown): ReadonlyMap<string, DescribedPart> {
  const parts = new Map<string, DescribedPart>()
  function visit(value: unknown, tokens: readonly string[], isMap: boolean): void {
    if (Array.isArray(value)) {
      value.forEach((item, index) => visit(item, [...tokens, String(index)], false))
      return
    }
    if (!isRecord(value)) return
    if (!isMap)
      parts.set(composePointer(tokens), {
        tokens,
        texts: { description: text(value, 'description'), title: text(value, 'title') },
      })
    for (const [name, member] of Object.entries(value)) {
      if (!isMap && DATA_MEMBERS.has(name)) continue
      visit(member, [...tokens, name], !isMap && MAP_MEMBERS.has(name))
    }
  }
  visit(root, [], false)
  return parts
}

function text(owner: Readonly<Record<string, unknown>>, member: string): string {
  const value = owner[member]
  return typeof value === 'string' ? value : ''
}

/** What a text belongs to, in a reader's words. */
function nounOf(tokens: readonly string[], kind: string): string {
  const names = tokens.filter((token, index) => tokens[index - 1] === 'properties' && token !== '')
  if (names.length > 0) {
    return `the ${tokens[0] === 'outputSchema' ? 'result' : 'argument'} \`${names.join('.')}\``
  }
  return tokens.length === 0 ? `the ${kind}` : `the ${kind}’s \`${tokens.join('/')}\``
}

/** Looks at every string that an item did not hold before; `before` is null when the item is new. */
export function findNewSigns(
  before: Located | null,
  after: Located,
  tool: string | null,
  kind: string,
  report: McpReport,
): void {
  const old = stringsIn(before?.value)
  const known = new Set(old.values())
  const owner = { tools: report.tools, own: tool }
  for (const [path, { string, tokens }] of entriesOf(after.value)) {
    if (known.has(string)) continue
    const had = new Set(findSuspicions(old.get(path) ?? '', owner).map(signKey))
    for (const suspicion of findSuspicions(string, owner)) {
      if (had.has(signKey(suspicion))) continue
      report.say({
        rule: suspicion.rule,
        tool,
        subject: `${kind}${path}`,
        side: 'head',
        location: `${pointerOf(after.at)}${path}`,
        name: `a text of ${nounOf(tokens.slice(0, -1), kind)}`,
        before: old.get(path) ?? null,
        after: string,
        detail: suspicion.evidence,
      })
    }
  }
}

function signKey({ rule, evidence }: { readonly rule: string; readonly evidence: string }): string {
  return `${rule} ${evidence}`
}

function stringsIn(root: unknown): ReadonlyMap<string, string> {
  return new Map([...entriesOf(root)].map(([path, { string }]) => [path, string]))
}

interface StringEntry {
  readonly tokens: readonly string[]
  readonly string: string
}

/** Every text below `root` by its JSON Pointer, names of members included: a model reads those too. */
function entriesOf(root: unknown): ReadonlyMap<string, StringEntry> {
  const entries = new Map<string, StringEntry>()
  function visit(value: unknown, tokens: readonly string[]): void {
    if (typeof value === 'string') entries.set(composePointer(tokens), { tokens, string: value })
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      const below = [...tokens, name]
      if (!Array.isArray(value))
        entries.set(`${appendPointer(composePointer(tokens), name)}#`, { tokens: below, string: name })
      visit(member, below)
    }
  }
  visit(root, [])
  return entries
}
