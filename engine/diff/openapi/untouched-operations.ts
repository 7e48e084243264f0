/**
 * Operations that are written the same on both sides, with all that they refer to. Most operations of a large contract are,
 * and nothing of them is compared. What is not seen at a glance counts as touched.
 */
import { isRecord, memberOf, recordOf, type JsonRecord, type Located } from '../../schema/located.ts'
import { isEqual } from '../../schema/equality.ts'
import { NAMED_SCHEMAS } from '../../schema/inclusion/sameness.ts'
import type { ApiOperation, OpenApiContract, PathItem } from '../../contracts/openapi/contract.ts'
import type { Sides } from '../sides.ts'

/** What the members of an object are: keywords, names, media types, or those of one media type. */
type MemberRole = 'keywords' | 'names' | 'media-types' | 'media-type'

/** Members that hold parts by name: their names are no keywords. */
const NAMED: ReadonlySet<string> = new Set([
  ...NAMED_SCHEMAS,
  'definitions',
  '$defs',
  'headers',
  'encoding',
  'responses',
])
/** Members that hold data: nothing in them is a keyword. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum'])
/** Members whose meaning also depends on parts that nothing here refers to. */
const DEPENDENT: ReadonlySet<string> = new Set([
  'discriminator',
  'links',
  'callbacks',
  'operationRef',
  '$dynamicRef',
  '$recursiveRef',
])
/** Members of the root that are compared apart from operations, or that operations refer to. Extensions are neither. */
const APART: ReadonlySet<string> = new Set([
  'paths',
  'webhooks',
  'components',
  'definitions',
  'parameters',
  'responses',
  'info',
  'tags',
  'externalDocs',
])

/** A target of references: whether it is touched, and the targets that refer to it. */
interface ReferredPart {
  isTouched: boolean
  readonly holders: ReferredPart[]
}

/** Operations of the head that mean on both sides the same. */
export function untouchedOperations(
  { base, head }: Sides<OpenApiContract>,
  kept: readonly (readonly [base: PathItem, head: PathItem])[],
): ReadonlySet<ApiOperation> {
  const targets = new ReferredParts(base, head)
  const around = isReadAlike(base, head) ? targets.referredBy(surroundingsOf(base), surroundingsOf(head)) : null
  if (around === null) return new Set()
  const seen: (readonly [operation: ApiOperation, references: readonly ReferredPart[]])[] = []
  for (const [before, after] of kept) {
    const isComparable = before.path === after.path && isInContract(before) && isInContract(after)
    const ofItem = isComparable ? targets.referredBy(sharedParts(before), sharedParts(after)) : null
    if (ofItem === null) continue
    for (const [method, operation] of after.operations) {
      const own = targets.referredBy(before.operations.get(method)?.value, operation.value)
      if (own !== null) seen.push([operation, [...ofItem, ...own]])
    }
  }
  targets.spread()
  if (around.some(isTouched)) return new Set()
  return new Set(seen.flatMap(([operation, references]) => (references.some(isTouched) ? [] : [operation])))
}

function isTouched(target: ReferredPart): boolean {
  return target.isTouched
}

/** Whether its parts are in the contract itself, where its references start. */
function isInContract({ located, serversOwner, parameters, operations }: PathItem): boolean {
  return [{ located }, { located: serversOwner }, ...parameters, ...operations.values()].every(
    ({ located: { document } }) => document === '',
  )
}

/** What the operations of a path item inherit from it. */
function sharedParts({ parameters, serversOwner }: PathItem): unknown {
  return { servers: memberOf(serversOwner, 'servers')?.value ?? null, parameters: parameters.map(({ value }) => value) }
}

/** Whether both are read by one version, and by no addresses that schemas state. */
function isReadAlike(base: OpenApiContract, head: OpenApiContract): boolean {
  if (base.version !== head.version || base.documents.dialect !== head.documents.dialect) return false
  return base.documents.baseOf === undefined && head.documents.baseOf === undefined
}

/** What operations depend on without a reference. */
function surroundingsOf({ root }: OpenApiContract): JsonRecord {
  const members = recordOf(root.value)
  const schemes = recordOf(members['components'])['securitySchemes']
  const around = Object.entries(members).filter(([name]) => !APART.has(name) && !name.startsWith('x-'))
  return { ...Object.fromEntries(around), schemes }
}

/** The targets of the references of two documents, compared by what is written in them. */
class ReferredParts {
  readonly #base: OpenApiContract
  readonly #head: OpenApiContract
  readonly #targets = new Map<string, ReferredPart>()
  readonly #unread: string[] = []

  constructor(base: OpenApiContract, head: OpenApiContract) {
    this.#base = base
    this.#head = head
  }

  /** What two equal parts refer to; null where they differ, or are not seen to be equal. */
  referredBy(before: unknown, after: unknown): readonly ReferredPart[] | null {
    const references = new Set<string>()
    if (!isSame(before, after, 'keywords', references)) return null
    return [...references].map((reference) => this.#target(reference))
  }

  /** Whoever refers to a touched target is touched. */
  spread(): void {
    for (let reference = this.#unread.pop(); reference !== undefined; reference = this.#unread.pop())
      this.#read(reference)
    const open = [...this.#targets.values()].filter(isTouched)
    for (let target = open.pop(); target !== undefined; target = open.pop())
      for (const holder of target.holders) {
        if (holder.isTouched) continue
        holder.isTouched = true
        open.push(holder)
      }
  }

  #target(reference: string): ReferredPart {
    let target = this.#targets.get(reference)
    if (target === undefined) {
      target = { isTouched: false, holders: [] }
      this.#targets.set(reference, target)
      this.#unread.push(reference)
    }
    return target
  }

  #read(reference: string): void {
    const target = this.#target(reference)
    const [before, after] = [targetIn(this.#base, reference), targetIn(this.#head, reference)]
    const referred = before === null || after === null ? null : this.referredBy(before.value, after.value)
    if (referred === null) target.isTouched = true
    else for (const one of referred) one.holders.push(target)
  }
}

function targetIn({ documents }: OpenApiContract, reference: string): Located | null {
  return reference.startsWith('#/') ? documents.resolve(reference, documents.root) : null
}

/** @param references collects what the parts refer to; the answer is the same whatever these are */
function isSame(before: unknown, after: unknown, role: MemberRole, references: Set<string>): boolean {
  if (Array.isArray(before)) {
    if (!Array.isArray(after) || before.length !== after.length) return false
    for (let index = 0; index < before.length; index += 1)
      if (!isSame(before[index], after[index], 'keywords', references)) return false
    return true
  }
  if (!isRecord(before) || !isRecord(after)) return before === after
  let names = 0
  for (const name in before) {
    if (isExample(name, role)) continue
    names += 1
    if (!Object.hasOwn(after, name) || !isSameMember(name, before[name], after[name], role, references)) return false
  }
  for (const name in after) if (!isExample(name, role)) names -= 1
  return names === 0
}

function isExample(name: string, role: MemberRole): boolean {
  return role === 'media-type' && (name === 'example' || name === 'examples')
}

function isSameMember(
  name: string,
  before: unknown,
  after: unknown,
  role: MemberRole,
  references: Set<string>,
): boolean {
  if (role === 'names') return isSame(before, after, 'keywords', references)
  if (role === 'media-types') return isSame(before, after, 'media-type', references)
  if (DEPENDENT.has(name)) return false
  if (typeof before === 'string') {
    if (name === '$ref') references.add(before)
    return before === after
  }
  if (DATA.has(name)) return isEqual(before, after)
  if (name === 'content') return isSame(before, after, 'media-types', references)
  return isSame(before, after, NAMED.has(name) ? 'names' : 'keywords', references)
}
