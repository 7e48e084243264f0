/**
 * Finds renamed tools by the similarity of their schemas and descriptions. It is a guess that changes the wording of
 * findings, never their level.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { McpItem } from '../../contracts/mcp-manifest.ts'
import { isRecord } from '../../schema/located.ts'
import { inLatinLetters } from './lookalikes.ts'
import { shapeKey } from '../../schema/shape.ts'

/** The similarity from which two tools count as one. */
const SAME_TOOL = 0.6
/** Above this number no pair is scored: the server was replaced, not renamed. */
const MOST_PAIRS = 10_000

interface Portrait {
  readonly item: McpItem
  readonly schema: string
  readonly properties: ReadonlySet<string>
  readonly words: ReadonlySet<string>
  readonly nameParts: ReadonlySet<string>
}

/** Old name → new tool. Each tool is used once, the most similar pairs first, ties in order of names. */
export function findRenames(removed: readonly McpItem[], added: readonly McpItem[]): ReadonlyMap<string, McpItem> {
  const renames = respelled(removed, added)
  const unmatched = removed.filter(({ name }) => !renames.has(name))
  const taken = new Set([...renames.values()].map(({ name }) => name))
  const free = added.filter(({ name }) => !taken.has(name))
  if (unmatched.length * free.length > MOST_PAIRS) return renames
  const candidates = free.map(portray)
  const pairs = unmatched
    .map(portray)
    .flatMap((base) =>
      candidates
        .map((head) => ({ from: base.item.name, to: head.item, likeness: similarityOf(base, head) }))
        .filter(({ likeness }) => likeness >= SAME_TOOL),
    )
  pairs.sort((a, b) => b.likeness - a.likeness || byCodeUnit(a.from, b.from) || byCodeUnit(a.to.name, b.to.name))
  for (const { from, to } of pairs) {
    if (renames.has(from) || taken.has(to.name)) continue
    renames.set(from, to)
    taken.add(to.name)
  }
  return renames
}

/** Names that differ only in separators and letter case: `tavily-search` and `tavily_search`, whatever else changed. */
function respelled(removed: readonly McpItem[], added: readonly McpItem[]): Map<string, McpItem> {
  const [before, after] = [removed, added].map((items) => Map.groupBy(items, ({ name }) => spellingKey(name)))
  const renames = new Map<string, McpItem>()
  for (const [key, [from, ...others]] of before ?? []) {
    const [to, ...further] = after?.get(key) ?? []
    // When several names are alike, none is matched.
    if (key === '' || from === undefined || to === undefined || others.length + further.length > 0) continue
    renames.set(from.name, to)
  }
  return renames
}

/** A name without separators and letter case, accents and widths, and with similar letters and digits as one. */
export function spellingKey(name: string): string {
  const plain = inLatinLetters(name.normalize('NFKD')).toLowerCase()
  return plain
    .replaceAll(/[^\p{L}\p{N}\p{M}]|[\u0300-\u036F]/gu, '')
    .replaceAll('0', 'o')
    .replaceAll('1', 'l')
}

function portray(item: McpItem): Portrait {
  const { inputSchema, outputSchema, description } = item.value
  const properties = isRecord(inputSchema) && isRecord(inputSchema['properties']) ? inputSchema['properties'] : {}
  return {
    item,
    schema: shapeKey([inputSchema ?? {}, outputSchema ?? {}]),
    properties: new Set(Object.keys(properties)),
    words: wordSet(typeof description === 'string' ? description : ''),
    nameParts: wordSet(item.name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')),
  }
}

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))
}

function similarityOf(base: Portrait, head: Portrait): number {
  const schema = base.schema === head.schema ? 1 : shared(base.properties, head.properties)
  const hasArguments = base.properties.size + head.properties.size > 0
  // Without arguments the schemas carry no signal, so the texts decide.
  const [bySchema, byWords, byName] = hasArguments ? [0.4, 0.35, 0.25] : [0.1, 0.55, 0.35]
  return bySchema * schema + byWords * shared(base.words, head.words) + byName * shared(base.nameParts, head.nameParts)
}

/** The shared part of two sets, from 0 to 1; 0 for two empty sets. */
function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const both = a.intersection(b).size
  return both === 0 ? 0 : both / (a.size + b.size - both)
}
