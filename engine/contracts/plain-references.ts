/** Dynamic references of schemas in the form that every comparison follows. */
import { isRecord, type JsonRecord } from '../schema/located.ts'
import { percentDecoded } from '../common/percent-decoding.ts'
import { NO_TARGET, RECURSIVE, withScopedReferences } from './dynamic-scopes.ts'
import { draftHas, isValueMember } from './schema-drafts.ts'
import { draftOf, NAMED_SCHEMAS } from './schema-keywords.ts'

/**
 * Replaces dynamic references by plain ones. They lead to the outermost schema resource that evaluation went through and
 * that defines the anchor (JSON Schema 2020-12 §8.2.3.2). If the document defines it, that is the document; otherwise the
 * resource of the reference is taken.
 * @param text that the value was read from
 * @param draft of schemas that state none; null: any keyword may be defined
 * @param shared dynamic anchors that further files define too
 */
export function withPlainReferences(
  written: unknown,
  text: string,
  draft: string | null,
  shared: () => ReadonlySet<string>,
): unknown {
  if (!DYNAMIC.test(text)) return written
  const root = withinOneFile(withReferencesOfDraft(written, draft), shared())
  const scoped = withScopedReferences(root)
  if (scoped !== null) return scoped
  const outermost = addressedRoot(root)
  return withinResource(root, { outermost, own: outermost })
}

/**
 * The same for a schema that is evaluated by itself: a document, or a part of another one.
 * @param draft that it states, or the default; null: any keyword may be defined
 * @param document what the schema was read from, if it is a document, and the dynamic anchors that further files define too
 */
export function withPlainSchemaReferences(
  written: unknown,
  draft: string | null,
  document?: { readonly text: string; readonly shared: () => ReadonlySet<string> },
): unknown {
  if (!(document === undefined ? holdsDynamic(written) : DYNAMIC.test(document.text))) return written
  const schema = withinOneFile(withReferencesOfDraft(written, draft), document?.shared() ?? new Set())
  const outermost = addressedRoot(schema)
  if (!isRecord(schema) || outermost.address !== '')
    return withScopedReferences(schema) ?? withinResource(schema, { outermost, own: outermost })
  const named = { ...schema, $id: UNNAMED_SCHEMA }
  const own = addressedRoot(named)
  const plain = withScopedReferences(named) ?? withinResource(named, { outermost: own, own })
  // Where no resource refers to it, the document is left without an address.
  const isNeeded = JSON.stringify(plain).includes(`"$ref":"${UNNAMED_SCHEMA}`)
  return isNeeded ? plain : (withScopedReferences(schema) ?? withinResource(schema, { outermost, own: outermost }))
}

/** Stands for the address of a schema that states none, so that the resources within it can refer to it. */
export const UNNAMED_SCHEMA = 'https://schema.invalid/'

function holdsDynamic(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsDynamic)
  if (!isRecord(value)) return false
  return KEYWORDS.some((name) => Object.hasOwn(value, name)) || Object.values(value).some(holdsDynamic)
}

/** Also where a keyword may be written with escapes. */
const DYNAMIC = /\$(?:dynamic|recursive)Ref|\\(?:u00|U0000|x)/

/**
 * The value without dynamic references that the draft of their schema does not have: 2019-09 has the recursive one, 2020-12 the
 * other one. A draft ignores keywords that it does not know (JSON Schema 2020-12 core §6.5).
 */
function withReferencesOfDraft(value: unknown, draft: string | null, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferencesOfDraft(item, draft))
  if (!isRecord(value)) return value
  const isMap = NAMED_SCHEMAS.has(name)
  const own = (isMap ? null : draftOf(value['$schema'])) ?? draft
  const members = Object.entries(value).filter(
    ([key, member]) => isMap || !OF_ONE_DRAFT.has(key) || draftHas(own, key, member),
  )
  return Object.fromEntries(
    members.map(([key, member]) => {
      if (isMap) return [key, withReferencesOfDraft(member, own)]
      return [key, isValueMember(key, name) ? member : withReferencesOfDraft(member, own, key)]
    }),
  )
}

const OF_ONE_DRAFT: ReadonlySet<string> = new Set(['$dynamicRef', '$recursiveRef', '$recursiveAnchor'])

/** The dynamic anchors that a document defines. What stands in a value may be among them. */
export function dynamicAnchorsIn(value: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  const open: unknown[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isRecord(next) && typeof next['$dynamicAnchor'] === 'string') found.add(next['$dynamicAnchor'])
    if (isRecord(next) && next['$recursiveAnchor'] === true) found.add(RECURSIVE)
    if (typeof next === 'object' && next !== null) open.push(...Object.values(next).filter((one) => one !== null))
  }
  return found
}

/**
 * The scope of a dynamic reference may begin in another file, which is not followed. Such a reference has no target, which is
 * reported: one of this file could be the wrong one.
 */
function withinOneFile(root: unknown, shared: ReadonlySet<string>): unknown {
  if (shared.size === 0) return root
  const own = dynamicAnchorsIn(root)
  const isOfFiles = (reference: string, keyword: string): boolean => {
    const [file, fragment = ''] = reference.split('#', 2)
    const anchor = keyword === '$recursiveRef' ? RECURSIVE : percentDecoded(fragment)
    const isDynamic = (keyword === '$recursiveRef') === (anchor === RECURSIVE)
    return isDynamic && shared.has(anchor) && (file !== '' || own.has(anchor))
  }
  const rewritten = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewritten)
    if (!isRecord(value)) return value
    const members = Object.entries(value).map(([name, member]) => {
      const isOpen = KEYWORDS.some((keyword) => keyword === name) && typeof member === 'string'
      return [name, isOpen && isOfFiles(member, name) ? NO_TARGET : rewritten(member)] as const
    })
    return Object.fromEntries(members)
  }
  return rewritten(root)
}

/** A schema with an address, and what dynamic references find in it. */
interface AddressedRoot {
  readonly schema: unknown
  readonly address: string
  readonly anchors: ReadonlySet<unknown>
  readonly isRecursive: boolean
}

interface ReferenceScope {
  readonly outermost: AddressedRoot
  readonly own: AddressedRoot
}

function addressedRoot(root: unknown): AddressedRoot {
  const anchors = new Set<unknown>()
  const open: unknown[] = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) open.push(...next)
    if (!isRecord(next) || (next !== root && isResource(next))) continue
    if (typeof next['$dynamicAnchor'] === 'string') anchors.add(next['$dynamicAnchor'])
    open.push(...Object.values(next))
  }
  const { $id, $recursiveAnchor } = isRecord(root) ? root : NOTHING
  const address = typeof $id === 'string' ? $id.replace(/#.*$/s, '') : ''
  return { schema: root, address, anchors, isRecursive: $recursiveAnchor === true }
}

const NOTHING: JsonRecord = {}

function isResource({ $id }: JsonRecord): boolean {
  return typeof $id === 'string' && !$id.startsWith('#')
}

function withinResource(value: unknown, scope: ReferenceScope): unknown {
  if (Array.isArray(value)) return value.map((item) => withinResource(item, scope))
  if (!isRecord(value)) return value
  const within = isResource(value) && value !== scope.own.schema ? { ...scope, own: addressedRoot(value) } : scope
  const dynamic: readonly string[] = KEYWORDS.filter((name) => typeof value[name] === 'string')
  const members = Object.entries(value)
    .filter(([name]) => !dynamic.includes(name))
    .map(([name, member]): [string, unknown] => [name, withinResource(member, within)])
  const plain = Object.fromEntries(members)
  if (dynamic.length === 0) return plain
  const targets = dynamic.map((name) => dynamicTarget(String(value[name]), name === '$recursiveRef', within))
  const [first, ...others] = [...(Object.hasOwn(value, '$ref') ? [value['$ref']] : []), ...targets]
  const { allOf } = plain
  // Each reference is a condition of its own.
  const more = others.length === 0 ? {} : { allOf: [...(Array.isArray(allOf) ? allOf : []), ...others.map(refTo)] }
  return { ...plain, $ref: first, ...more }
}

const KEYWORDS = ['$dynamicRef', '$recursiveRef'] as const

/** A document without an address cannot be named from another resource within it. */
function dynamicTarget(reference: string, isRecursive: boolean, { outermost, own }: ReferenceScope): string {
  if (outermost === own || outermost.address === '') return reference
  if (isRecursive) return outermost.isRecursive && own.isRecursive ? outermost.address : reference
  const [resource, anchor] = reference.split('#', 2)
  const isDynamic = outermost.anchors.has(anchor) && (resource !== '' || own.anchors.has(anchor))
  return isDynamic ? `${outermost.address}#${anchor}` : reference
}

function refTo(target: unknown): object {
  return { $ref: target }
}
