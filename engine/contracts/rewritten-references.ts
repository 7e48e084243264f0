/** Copies a part of a document with rewritten references. */
import { isRecord, type JsonRecord, type Located } from '../schema/located.ts'
import { joinPath } from './file-references.ts'
import { VALUES } from './schema-keywords.ts'
import { NAMED_PARTS } from './unresolved.ts'
import { isAbsolute, relativePath } from './uri.ts'

interface ReferenceMoves {
  /** A `$ref` as written → the new one. */
  readonly ref: (reference: string) => string
  /** A discriminator mapping value, or its default: the name of a schema or a reference. */
  readonly mapping: (target: string) => string
  /** A keyword that identifies a place without a pointer, so that its meaning depends on its place. */
  readonly fixed: (keyword: string) => void
}

/** JSON Schema 2020-12 §8.2: identifiers and dynamic references. */
const FIXED: ReadonlySet<string> = new Set(['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef'])

/** The part, copied. Data such as examples stays as it is. */
export function rewriteReferences(part: unknown, moves: ReferenceMoves): unknown {
  return withMovedReferences(part, false, moves)
}

/** @param isNamed the members are parts by name, not keywords */
function withMovedReferences(value: unknown, isNamed: boolean, moves: ReferenceMoves): unknown {
  if (Array.isArray(value)) return value.map((item) => withMovedReferences(item, false, moves))
  if (!isRecord(value)) return value
  const members = Object.entries(value).map(([name, child]): [string, unknown] => {
    if (isNamed) return [name, withMovedReferences(child, false, moves)]
    if (VALUES.has(name) || name.startsWith('x-')) return [name, child]
    if (FIXED.has(name) && typeof child === 'string') moves.fixed(name)
    if (name === '$ref' && typeof child === 'string') return [name, moves.ref(child)]
    if (name === 'discriminator' && isRecord(child)) return [name, discriminator(child, moves)]
    return [name, withMovedReferences(child, NAMED_PARTS.has(name) && isRecord(child), moves)]
  })
  return Object.fromEntries(members)
}

function discriminator(value: JsonRecord, { mapping }: ReferenceMoves): JsonRecord {
  const moved = (target: unknown): unknown => (typeof target === 'string' ? mapping(target) : target)
  const { mapping: targets, defaultMapping } = value
  return {
    ...value,
    ...(isRecord(targets) && {
      mapping: Object.fromEntries(Object.entries(targets).map(([name, target]) => [name, moved(target)])),
    }),
    ...(defaultMapping !== undefined && { defaultMapping: moved(defaultMapping) }),
  }
}

/** Other targets of a mapping are names of schemas. */
const LIKE_REFERENCE = /[/#.]/

/** References of one file as another one writes them. */
export function movesBetween(from: Located, to: Located): ReferenceMoves {
  const ref = (reference: string): string => {
    if (isAbsolute(reference)) return reference
    const [file = '', ...fragment] = reference.split('#')
    const path = file === '' ? from.document : joinPath(from.document, file)
    return [relativePath(path, to.document) ?? path, ...fragment].join('#')
  }
  return { ref, mapping: (target) => (LIKE_REFERENCE.test(target) ? ref(target) : target), fixed: () => {} }
}
