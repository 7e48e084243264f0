/**
 * Dynamic references to an anchor that several resources of a document define. They lead to the outermost of those that evaluation
 * went through (JSON Schema 2020-12 core §8.2.3.2), so one resource means another thing on each way to it. A resource gets a
 * copy for each meaning that it has besides the one in its place.
 */
import { byCodeUnit } from '../common/code-unit-order.ts'
import { percentDecoded } from '../common/percent-decoding.ts'
import { DYNAMIC_SCOPES as COPIES, isRecord, type JsonRecord } from '../schema/located.ts'
import { localRefPointer, parsePointer } from './pointer.ts'
import { NAMED_SCHEMAS, VALUES } from './schema-keywords.ts'
import { resolveUri } from './uri.ts'

/** More copies than these are not made. What would need another one is a reference without a target, which is reported. */
const MAX_COPIES = 200
export const NO_TARGET = 'https://schema.invalid/further-scopes'

/** `$recursiveAnchor: true` of 2019-09 is an anchor of the resource itself. */
export const RECURSIVE = ''

interface AnchoredResource {
  readonly uri: string
  readonly value: JsonRecord
  /** The resource that contains it; null for the document. */
  readonly holder: AnchoredResource | null
  /** Dynamic anchors, and the pointers of their schemas in the document. */
  readonly anchors: Map<string, string>
  /** The anchors on which its meaning depends. */
  readonly needs: Set<string>
  readonly leadsTo: Set<AnchoredResource>
}

/** The resource in which each anchor is found that several define. */
type DynamicScope = ReadonlyMap<string, AnchoredResource>

interface ResourcePart {
  readonly resource: AnchoredResource
  /** With its `#`. */
  readonly fragment: string
}

/** The document with plain references in place of dynamic ones. Null if no anchor is defined twice. */
export function withScopedReferences(root: unknown): unknown {
  const document = isRecord(root) ? new ScopedDocument(root) : null
  return document?.isNeeded === true ? document.rewritten() : null
}

class ScopedDocument {
  readonly #root: AnchoredResource
  readonly #resources = new Map<string, AnchoredResource>()
  readonly #byValue = new Map<JsonRecord, AnchoredResource>()
  readonly #contested: ReadonlySet<string>
  readonly #written = new Map<AnchoredResource, Record<string, unknown>>()
  #most = MAX_COPIES
  #isOverfull = false
  readonly #copies = new Map<string, { readonly resource: AnchoredResource; readonly scope: DynamicScope }>()

  constructor(root: JsonRecord) {
    this.#root = this.#collect(root, null, '', false) ?? this.#add(root, null)
    const counts = new Map<string, number>()
    for (const { anchors } of this.#byValue.values())
      for (const anchor of anchors.keys()) counts.set(anchor, (counts.get(anchor) ?? 0) + 1)
    this.#contested = new Set([...counts].flatMap(([anchor, count]) => (count > 1 ? [anchor] : [])))
  }

  get isNeeded(): boolean {
    return this.#contested.size > 0
  }

  rewritten(): unknown {
    for (const resource of this.#byValue.values()) this.#noteUses(resource.value, resource)
    this.#spreadNeeds()
    const whole = this.#writeWhole()
    if (!this.#isOverfull) return whole
    // Whatever comes first in the document, none of the copies is made.
    this.#most = 0
    this.#copies.clear()
    return this.#writeWhole()
  }

  #writeWhole(): unknown {
    const plain = this.#write(this.#root.value, this.#root, this.#lexicalScope(this.#root), null)
    const made = new Map<AnchoredResource, [string, unknown][]>()
    // Grows during iteration.
    for (const [uri, { resource, scope }] of this.#copies) {
      const copy = this.#write(resource.value, resource, scope, uri)
      made.set(resource, [...(made.get(resource) ?? []), [uri, copy]])
    }
    for (const [resource, copies] of made) {
      const written = this.#written.get(resource)
      if (written !== undefined) written[COPIES] = Object.fromEntries(copies.sort(([a], [b]) => byCodeUnit(a, b)))
    }
    return plain
  }

  #add(value: JsonRecord, holder: AnchoredResource | null): AnchoredResource {
    const { $id, $recursiveAnchor } = value
    const uri = typeof $id === 'string' ? resolveUri($id, holder?.uri ?? '').uri : ''
    const resource = {
      uri,
      value,
      holder,
      anchors: new Map(),
      needs: new Set<string>(),
      leadsTo: new Set<AnchoredResource>(),
    }
    if ($recursiveAnchor === true) resource.anchors.set(RECURSIVE, '')
    this.#byValue.set(value, resource)
    if (!this.#resources.has(uri)) this.#resources.set(uri, resource)
    return resource
  }

  /** Finds the resources in a value. Returns that of the value itself, if it is one. */
  #collect(value: unknown, within: AnchoredResource | null, pointer: string, isMap: boolean): AnchoredResource | null {
    if (typeof value !== 'object' || value === null) return null
    const isOwn = isRecord(value) && !isMap && (within === null || isResource(value))
    const own = isOwn ? this.#add(value, within) : null
    const resource = own ?? within
    if (isRecord(value) && !isMap && typeof value['$dynamicAnchor'] === 'string')
      resource?.anchors.set(value['$dynamicAnchor'], pointer)
    for (const [name, member] of Object.entries<unknown>({ ...value })) {
      if (isRecord(value) && !isMap && VALUES.has(name)) continue
      const step = name.replaceAll('~', '~0').replaceAll('/', '~1')
      this.#collect(member, resource, `${pointer}/${step}`, isRecord(value) && !isMap && NAMED_SCHEMAS.has(name))
    }
    return own
  }

  /** What the meaning of a resource may depend on: its own references, and the resources that they lead to. */
  #noteUses(value: unknown, resource: AnchoredResource): void {
    if (typeof value !== 'object' || value === null) return
    const nested = isRecord(value) ? this.#byValue.get(value) : undefined
    if (nested !== undefined && nested !== resource) return void resource.leadsTo.add(nested)
    if (isRecord(value)) {
      const plain = typeof value['$ref'] === 'string' ? this.#targetOf(value['$ref'], resource) : null
      if (plain !== null) resource.leadsTo.add(plain.resource)
      for (const { target, anchor } of this.#dynamicTargets(value, resource)) {
        if (target !== null) resource.leadsTo.add(target.resource)
        if (anchor === null || resource.needs.has(anchor)) continue
        resource.needs.add(anchor)
        for (const one of this.#byValue.values()) if (one.anchors.has(anchor)) resource.leadsTo.add(one)
      }
    }
    for (const member of Object.values<unknown>({ ...value })) this.#noteUses(member, resource)
  }

  #spreadNeeds(): void {
    const users = new Map<AnchoredResource, AnchoredResource[]>()
    for (const user of this.#byValue.values())
      for (const one of user.leadsTo) users.set(one, users.get(one)?.concat(user) ?? [user])
    // Grows during iteration.
    const changed = [...this.#byValue.values()]
    for (const resource of changed)
      for (const user of users.get(resource) ?? []) {
        const { size } = user.needs
        for (const anchor of resource.needs) user.needs.add(anchor)
        if (user.needs.size > size) changed.push(user)
      }
  }

  /** The dynamic references of a schema, and their anchors where several resources define them. */
  #dynamicTargets(
    schema: JsonRecord,
    from: AnchoredResource,
  ): readonly { readonly reference: string; readonly target: ResourcePart | null; readonly anchor: string | null }[] {
    return (['$dynamicRef', '$recursiveRef'] as const).flatMap((keyword) => {
      const reference = schema[keyword]
      if (typeof reference !== 'string') return []
      const target = this.#targetOf(reference, from)
      const anchor = keyword === '$recursiveRef' ? RECURSIVE : percentDecoded(target?.fragment.slice(1) ?? '')
      const isDynamic = target?.resource.anchors.has(anchor) === true && this.#contested.has(anchor)
      return [
        { reference, target, anchor: isDynamic && (keyword === '$recursiveRef') === (anchor === '') ? anchor : null },
      ]
    })
  }

  /** The resource that holds what a reference names. Null if that is in no resource of the document. */
  #targetOf(reference: string, from: AnchoredResource): ResourcePart | null {
    const { uri, fragment } = resolveUri(reference, from.uri)
    const resource = this.#resources.get(uri)
    const pointer = localRefPointer(`#${fragment}`)
    if (resource === undefined) return null
    if (pointer === null) return { resource, fragment: `#${fragment}` }
    // A pointer that a resource does not have is followed from the document, as most tools do.
    return this.#below(resource, pointer) ?? this.#below(this.#root, pointer)
  }

  #below(start: AnchoredResource, pointer: string): ResourcePart | null {
    let [resource, value, fragment]: [AnchoredResource, unknown, string] = [start, start.value, '#']
    for (const token of parsePointer(pointer) ?? ['\u0000']) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return null
      value = Reflect.get(value, token)
      fragment += `/${encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1'))}`
      const nested = isRecord(value) ? this.#byValue.get(value) : undefined
      if (nested !== undefined) [resource, fragment] = [nested, '#']
    }
    return { resource, fragment }
  }

  #lexicalScope(resource: AnchoredResource): DynamicScope {
    return this.#entered(resource.holder === null ? new Map() : this.#lexicalScope(resource.holder), resource)
  }

  #entered(scope: DynamicScope, resource: AnchoredResource): DynamicScope {
    const own = [...resource.anchors.keys()].filter((anchor) => this.#contested.has(anchor) && !scope.has(anchor))
    return own.length === 0 ? scope : new Map([...scope, ...own.map((anchor) => [anchor, resource] as const)])
  }

  /** @param copy the address of the copy that is written; null for what stays in its place */
  #write(value: unknown, resource: AnchoredResource, scope: DynamicScope, copy: string | null): unknown {
    if (Array.isArray(value)) return value.map((item: unknown) => this.#write(item, resource, scope, copy))
    if (!isRecord(value)) return value
    const nested = this.#byValue.get(value)
    if (nested !== undefined && nested !== resource) {
      const within = this.#entered(scope, nested)
      return this.#write(value, nested, within, copy === null ? null : this.#addressOf(nested, within))
    }
    // By entries: an assignment to `__proto__` makes no member.
    const plain: Record<string, unknown> = Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name !== '$dynamicRef' && name !== '$recursiveRef')
        .map(([name, member]) => [name, this.#write(member, resource, scope, copy)]),
    )
    const references = this.#references(value, resource, scope, copy)
    const [first, ...others] = references
    if (first !== undefined) plain['$ref'] = first
    // Each reference is a condition of its own.
    if (others.length > 0)
      plain['allOf'] = [...(Array.isArray(plain['allOf']) ? plain['allOf'] : []), ...others.map(($ref) => ({ $ref }))]
    if (nested === resource && copy === null) this.#written.set(resource, plain)
    if (nested === resource && copy !== null) plain['$id'] = copy
    return plain
  }

  /** All references of a schema as plain ones. */
  #references(
    schema: JsonRecord,
    resource: AnchoredResource,
    scope: DynamicScope,
    copy: string | null,
  ): readonly string[] {
    const { $ref } = schema
    const plain =
      typeof $ref === 'string' ? [{ reference: $ref, target: this.#targetOf($ref, resource), anchor: null }] : []
    return [...plain, ...this.#dynamicTargets(schema, resource)].map(({ reference, target, anchor }) => {
      if (target === null) return reference
      const found = anchor === null ? target : outermost(anchor, target, scope)
      const within = this.#entered(scope, found.resource)
      const address = this.#addressOf(found.resource, within)
      const isInPlace = address === found.resource.uri
      if (isInPlace && copy === null && found === target) return reference
      return `${isInPlace ? address : this.#copyAt(address, found.resource, within)}${found.fragment}`
    })
  }

  #copyAt(address: string, resource: AnchoredResource, scope: DynamicScope): string {
    if (!this.#copies.has(address)) {
      if (this.#copies.size >= this.#most) {
        this.#isOverfull = true
        return NO_TARGET
      }
      this.#copies.set(address, { resource, scope })
    }
    return address
  }

  /** The address of a resource as it is read in a scope. */
  #addressOf(resource: AnchoredResource, scope: DynamicScope): string {
    const lexical = this.#lexicalScope(resource)
    const needed = [...resource.needs].filter((anchor) => this.#contested.has(anchor)).sort(byCodeUnit)
    if (needed.every((anchor) => scope.get(anchor) === lexical.get(anchor))) return resource.uri
    const parts = needed.map(
      (anchor) => `${encodeURIComponent(anchor)}=${encodeURIComponent(scope.get(anchor)?.uri ?? '')}`,
    )
    return `${resource.uri}${resource.uri.includes('?') ? '&' : '?'}${parts.join('&')}`
  }
}

/** The anchor in the outermost resource that defines it. The document may have no address: a pointer leads to it from everywhere. */
function outermost(anchor: string, target: ResourcePart, scope: DynamicScope): ResourcePart {
  const resource = scope.get(anchor) ?? target.resource
  const pointer = (resource.anchors.get(anchor) ?? '').split('/').map(encodeURIComponent).join('/')
  return { resource, fragment: resource.uri === '' ? `#${pointer}` : `#${anchor}` }
}

function isResource({ $id }: JsonRecord): boolean {
  return typeof $id === 'string' && $id !== '' && !$id.startsWith('#')
}
