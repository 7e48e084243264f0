/**
 * The second YAML reader, for documents that js-yaml refuses on layout alone (a continued flow value that is not indented
 * enough): widespread tools accept them, and real contracts are written so. Only values that need no judgement come out.
 */
import { isAlias, isMap, isPair, isScalar, isSeq, parseAllDocuments, visit, type Document, type Node } from 'yaml'
import { fail, ok, type Result } from '../result.ts'
import type { DocumentLimits } from './limits.ts'
import { positionAt, type PlacedNode } from './positions.ts'
import { overLimit, unreadable } from './unreadable.ts'
import type { YamlReading } from './yaml-text.ts'

/** Reads a single document; strings, numbers, aliases and merges mean what they mean to the first reader. */
export function readLenientYaml(text: string, limits: DocumentLimits): Result<YamlReading> {
  try {
    return parseLenient(text, limits)
  } catch (error) {
    // The library composes by recursion and resolves aliases by throwing.
    if (error instanceof RangeError) return fail(overLimit(`nesting is deeper than ${limits.maxDepth} levels`))
    if (error instanceof ReferenceError || error instanceof TypeError) {
      return fail(unreadable(`it is not valid YAML: ${error.message}`))
    }
    throw error
  }
}

function parseLenient(text: string, limits: DocumentLimits): Result<YamlReading> {
  const documents = parseAllDocuments(text, {
    merge: true,
    prettyErrors: false,
    resolveKnownTags: false,
    // Checked below in linear time: the library compares each key with every other.
    uniqueKeys: false,
  })
  const [document] = documents
  if (document === undefined || documents.length !== 1) {
    return fail(
      unreadable(`it holds ${documents.length} YAML documents`, { fix: 'Give each as an artifact of its own.' }),
    )
  }
  const [error] = [...document.errors, ...document.warnings]
  if (error) {
    return fail(unreadable(`it is not valid YAML: ${error.message}`, { position: positionAt(text, error.pos[0]) }))
  }
  const { aliases, repeatedAt } = inspect(document)
  if (aliases > limits.maxAliases) return fail(overLimit(`it has more than ${limits.maxAliases} aliases`))
  if (repeatedAt !== null) {
    const fix = 'Keep one of the two: readers disagree on which one counts.'
    return fail(
      unreadable('it is not valid YAML: duplicated mapping key', { position: positionAt(text, repeatedAt), fix }),
    )
  }
  const root: unknown = document.toJS({ maxAliasCount: -1 })
  return ok({ root, place: () => placeNode(document, document.contents, null) })
}

/** Counts aliases and finds the first key that repeats within its mapping. */
function inspect(document: Document.Parsed): { aliases: number; repeatedAt: number | null } {
  let aliases = 0
  let repeatedAt: number | null = null
  visit(document, {
    Alias: () => {
      aliases++
    },
    Map: (_, map) => {
      const keys = new Set<string>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        const name = String(key.value)
        if (keys.has(name) && name !== '<<') repeatedAt ??= key.range?.[0] ?? 0
        keys.add(name)
      }
    },
  })
  return { aliases, repeatedAt }
}

function placeNode(document: Document, value: unknown, key: unknown): PlacedNode | null {
  const placeHolder = isNodeWithRange(key) ? key : isNodeWithRange(value) ? value : null
  if (placeHolder === null) return null
  return { offset: placeHolder.range?.[0] ?? 0, children: () => childrenOf(document, value) }
}

function childrenOf(document: Document, value: unknown): ReadonlyMap<string, PlacedNode> {
  const node = isAlias(value) ? value.resolve(document) : value
  const children = new Map<string, PlacedNode>()
  if (!isMap(node) && !isSeq(node)) return children
  node.items.forEach((item: unknown, index) => {
    const [token, child] = isPair(item)
      ? [isScalar(item.key) ? String(item.key.value) : '', placeNode(document, item.value, item.key)]
      : [String(index), placeNode(document, item, null)]
    if (child !== null) children.set(token, child)
  })
  return children
}

function isNodeWithRange(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value)
}
