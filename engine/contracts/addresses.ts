/**
 * The addresses that schemas of one document state (`$id`, anchors), and the schemas that references by address name.
 * What stands in a value (`examples`, `enum`) is no schema and has no address.
 */
import { isRecord, pointerOf, stepInto, type Located, type Place } from '../schema/located.ts'
import { localRefPointer, parsePointer } from './pointer.ts'
import { NAMED_SCHEMAS, VALUES } from './schema-keywords.ts'
import { resolveUri } from './uri.ts'

interface AddressReading {
  /** Address of the document itself, if a member other than `$id` states it. */
  readonly own?: string
  /** Whether `$ref` hides its siblings, as up to draft 7 (core §8.3). */
  readonly hidesSiblings: boolean
}

/** A schema with its own address. */
interface Resource {
  readonly uri: string
  readonly schema: Located
  /** Its pointer, which is the prefix of everything below it. */
  readonly pointer: string
}

export class Addresses {
  readonly #document: string
  readonly #resources: readonly Resource[]
  /** Addresses by the pointers of their schemas. */
  readonly #bases: ReadonlyMap<string, string>
  /** Schemas by address, and by address and anchor. */
  readonly #addressed = new Map<string, Located>()

  constructor(root: Located, { own = '', hidesSiblings }: AddressReading) {
    const resource = own === '' ? [] : [{ uri: resolveUri(own, '').uri, schema: root, pointer: '' }]
    this.#document = root.document
    for (const { uri, schema } of resource) this.#addressed.set(uri, schema)
    const search = new AddressSearch(root, hidesSiblings, this.#addressed)
    this.#resources = [...resource, ...search.resources(resource[0]?.uri ?? '')]
    this.#bases = new Map(this.#resources.toReversed().map(({ uri, pointer }) => [pointer, uri]))
  }

  /**
   * Undefined if no schema has the address of the reference, null if that schema has no such part. A document without an
   * address has anchors all the same.
   */
  find(reference: string, from: Located): Located | null | undefined {
    if (from.document !== this.#document || this.#addressed.size === 0) return undefined
    const { uri, fragment } = resolveUri(reference, this.baseOf(from))
    const schema = this.#addressed.get(uri)
    const pointer = localRefPointer(`#${fragment}`)
    if (pointer === null) return this.#addressed.get(`${uri}#${fragment}`) ?? (schema && null)
    if (schema === undefined) return undefined
    return (parsePointer(pointer) ?? ['\u0000']).reduce<Located | null>(memberOrItem, schema)
  }

  /** True if no part of the document has an address: every reference starts from the document. */
  get areOfOneBase(): boolean {
    return this.#resources.length === 0
  }

  /** Address of the innermost enclosing schema that has one. */
  baseOf({ at, document }: Located): string {
    if (document !== this.#document) return ''
    const [first] = this.#resources
    if (first === undefined) return ''
    if (this.#resources.length === 1 && first.pointer === '') return first.uri
    let pointer = pointerOf(at)
    while (pointer !== '' && !this.#bases.has(pointer)) pointer = pointer.slice(0, pointer.lastIndexOf('/'))
    return this.#bases.get(pointer) ?? ''
  }
}

function memberOrItem(owner: Located | null, token: string): Located | null {
  if (owner === null || typeof owner.value !== 'object' || owner.value === null) return null
  if (Array.isArray(owner.value) && !/^(?:0|[1-9]\d*)$/.test(token)) return null
  if (!Object.hasOwn(owner.value, token)) return null
  const value: unknown = Reflect.get(owner.value, token)
  return { value, at: stepInto(owner.at, token), document: owner.document }
}

interface OpenReference {
  readonly value: unknown
  readonly at: Place
  readonly base: string
  readonly isMap: boolean
  /** It is next to a `$ref` that hides it. Definitions are not hidden: references lead to them. */
  readonly isHidden: boolean
}

/** Finds every schema with an address or an anchor (JSON Schema 2020-12 §8.2; `id` and `#name` in drafts 4 to 7). */
class AddressSearch {
  readonly #root: Located
  readonly #hidesSiblings: boolean
  readonly #addressed: Map<string, Located>
  /** What is hidden keeps its address where no other schema has it: some readers find it. */
  readonly #hidden = new Map<string, Located>()
  readonly #resources: Resource[] = []

  constructor(root: Located, hidesSiblings: boolean, addressed: Map<string, Located>) {
    this.#root = root
    this.#hidesSiblings = hidesSiblings
    this.#addressed = addressed
  }

  resources(own: string): readonly Resource[] {
    const { value, at } = this.#root
    const open: OpenReference[] = [{ value, at, base: own, isMap: false, isHidden: false }]
    for (let next = open.pop(); next !== undefined; next = open.pop()) this.#look(next, open)
    for (const [address, schema] of this.#hidden)
      if (!this.#addressed.has(address)) this.#addressed.set(address, schema)
    return this.#resources
  }

  #look({ value, at, base, isMap, isHidden }: OpenReference, open: OpenReference[]): void {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries())
        open.push({ value: item, at: stepInto(at, String(index)), base, isMap: false, isHidden })
      return
    }
    if (!isRecord(value)) return
    // The address of the document is the one that it was found by.
    const isHiding = this.#hidesSiblings && !isMap && typeof value['$ref'] === 'string' && at !== this.#root.at
    const schema = { value, at, document: this.#root.document }
    const own = isMap ? base : this.#register(schema, base, isHidden || isHiding)
    for (const name of Object.keys(value)) {
      if (!isMap && VALUES.has(name)) continue
      open.push({
        value: value[name],
        at: stepInto(at, name),
        base: isHiding ? base : own,
        isMap: !isMap && NAMED_SCHEMAS.has(name),
        isHidden: isHidden || (isHiding && !DEFINITIONS.has(name)),
      })
    }
  }

  /** Records the address that a schema states. Returns the base of the schemas below it. */
  #register(schema: Located, base: string, isHidden: boolean): string {
    if (!isRecord(schema.value)) return base
    const addressed = isHidden ? this.#hidden : this.#addressed
    const { $id, id, $anchor, $dynamicAnchor } = schema.value
    const stated = typeof $id === 'string' ? $id : typeof id === 'string' ? id : null
    let uri = base
    if (stated !== null && stated !== '') {
      const resolved = resolveUri(stated, base)
      // Up to draft 7 an `$id` that is a fragment only names the schema within its document.
      if (stated.startsWith('#')) registerSchema(addressed, `${base}#${stated.slice(1)}`, schema)
      else {
        uri = resolved.uri
        registerSchema(addressed, uri, schema)
        if (typeof schema.value['$ref'] !== 'string' || !isHidden)
          this.#resources.push({ uri, schema, pointer: pointerOf(schema.at) })
      }
    }
    for (const anchor of [$anchor, $dynamicAnchor]) {
      if (typeof anchor === 'string') registerSchema(addressed, `${uri}#${anchor}`, schema)
    }
    return uri
  }
}

const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])

/** The first schema with an address keeps it. Validators refuse documents in which two claim one. */
function registerSchema(addressed: Map<string, Located>, address: string, schema: Located): void {
  const known = addressed.get(address)
  if (known === undefined || pointerOf(schema.at) < pointerOf(known.at)) addressed.set(address, schema)
}
