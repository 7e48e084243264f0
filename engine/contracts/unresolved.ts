/**
 * References of a contract whose target was not given: the target was not compared. One walk serves every JSON or YAML
 * format. Other formats report theirs in the same form.
 */
import { byCodeUnit } from '../common/code-unit-order.ts'
import type { UnresolvedReference } from '../model/format.ts'
import { isRecord, pointerOf, stepInto, writtenPointer, type JsonRecord, type Located } from '../schema/located.ts'
import { pointerToken, pointerFragment } from '../common/json-pointer.ts'
import { NAMED_SCHEMAS, VALUES } from './schema-keywords.ts'
import { REFERENCE_MEMBERS, surveyJson, type SurveyedReferences } from './json-survey.ts'

export type { UnresolvedReference } from '../model/format.ts'

/** An unresolved reference, and the object that contains it. */
export interface DanglingReference {
  readonly reference: string
  readonly holder: Located
  /** True if the target would replace the reference, false if it is only pointed to (a mapping, a link). */
  readonly isPart: boolean
}

/** A document and the targets of its references. */
interface ReferringDocument {
  readonly root: Located
  /** What the root refers to, if that is known. */
  readonly surveyed?: SurveyedReferences | undefined
  resolve(reference: string, from: Located): Located | null
  /** The base address of references at a place, if it differs within the document. */
  baseOf?(from: Located): string
}

/** Members that map names to parts: there `default` is an ordinary name. */
export const NAMED_PARTS: ReadonlySet<string> = new Set([
  ...NAMED_SCHEMAS,
  'responses',
  'headers',
  'parameters',
  'schemas',
  'requestBodies',
  'securitySchemes',
  'securityDefinitions',
  'links',
  'callbacks',
  'pathItems',
  'webhooks',
  'mediaTypes',
  'content',
  'encoding',
  'channels',
  'operations',
  'messages',
  'servers',
  'serverVariables',
  'variables',
  'replies',
  'replyAddresses',
  'correlationIds',
  'operationTraits',
  'messageTraits',
  'serverBindings',
  'channelBindings',
  'operationBindings',
  'messageBindings',
])

/**
 * Each reference once for each file that contains it, at its first place by pointer. Targets of references are walked
 * too.
 */
export function danglingReferences(document: ReferringDocument): readonly DanglingReference[] {
  if (document.baseOf === undefined && isSelfContained(document)) return []
  const found = new Map<string, DanglingReference | null>()
  const seen = new Set<object>()
  const open: SearchedPart[] = [{ located: document.root, isNamed: false }]
  const refer: Refer = (reference, holder, { isPart, alternative = null }) => {
    const key = `${isPart} ${document.baseOf?.(holder) ?? ''} ${danglingKey(reference, holder.document)}`
    const known = found.get(key)
    if (known === null) return
    if (known !== undefined) {
      if (isEarlierPlace(holder, known.holder)) found.set(key, { reference, holder, isPart })
      return
    }
    const target =
      document.resolve(reference, holder) ?? (alternative === null ? null : document.resolve(alternative, holder))
    found.set(key, target === null ? { reference, holder, isPart } : null)
    if (target !== null) open.push({ located: target, isNamed: false })
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value } = next.located
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    if (isRecord(value)) referencesOf(value, next.located, refer, next.isNamed)
    pushParts(value, next, open)
  }
  return [...found.values()].filter((entry) => entry !== null)
}

/**
 * True for most contracts: every reference leads to a place in the same document. The check avoids computing places.
 */
function isSelfContained(document: ReferringDocument): boolean {
  const { root } = document
  const { references, discriminators } = document.surveyed ?? surveyJson(root.value)
  const isWithin = (reference: string): boolean => document.resolve(reference, root)?.document === root.document
  return (
    [...references].every(isWithin) &&
    [...new Set(discriminators.flatMap(mappingTargets))].every(
      (target) => isWithin(target) || isWithin(schemaNamed(target)),
    )
  )
}

interface SearchedPart {
  readonly located: Located
  /** Its members are parts by name, not keywords. */
  readonly isNamed: boolean
}

type Refer = (
  reference: string,
  holder: Located,
  kind: Pick<DanglingReference, 'isPart'> & { readonly alternative?: string },
) => void

/** @param isNamed a map of parts, which holds no reference but the one to a map that was not found */
function referencesOf(value: JsonRecord, holder: Located, refer: Refer, isNamed: boolean): void {
  if (isNamed) {
    if (typeof value['$ref'] === 'string') refer(value['$ref'], holder, { isPart: true })
    return
  }
  for (const name of REFERENCE_MEMBERS) {
    const reference = Object.hasOwn(value, name) ? value[name] : undefined
    if (typeof reference === 'string') refer(reference, holder, { isPart: name !== 'operationRef' })
  }
  const { discriminator } = value
  if (!isRecord(discriminator)) return
  const at = stepInto(stepInto(holder.at, 'discriminator'), 'mapping')
  for (const target of mappingTargets(discriminator)) {
    const mapping = { value: discriminator['mapping'], at, document: holder.document }
    refer(target, mapping, { isPart: false, alternative: schemaNamed(target) })
  }
}

/** The targets of a discriminator: schema names or URI references (OpenAPI 3.1.1 §4.8.25). */
function mappingTargets(discriminator: object): readonly string[] {
  const mapping = isRecord(discriminator) ? discriminator['mapping'] : undefined
  return isRecord(mapping) ? Object.values(mapping).filter((target) => typeof target === 'string') : []
}

function schemaNamed(name: string): string {
  return pointerFragment(`/components/schemas/${pointerToken(name)}`)
}

function pushParts(value: object, { located, isNamed }: SearchedPart, open: SearchedPart[]): void {
  const { at, document } = located
  for (const [name, child] of Object.entries(value)) {
    if (typeof child !== 'object' || child === null) continue
    if (!isNamed && !Array.isArray(value) && (isValueMember(name, child) || name.startsWith('x-'))) continue
    const isNamedChild = !isNamed && NAMED_PARTS.has(name) && isRecord(child)
    open.push({ located: { value: child, at: stepInto(at, name), document }, isNamed: isNamedChild })
  }
}

/** Listed values may stand behind a reference. */
function isValueMember(name: string, child: object): boolean {
  return VALUES.has(name) && (name !== 'enum' || Array.isArray(child))
}

function isEarlierPlace(a: Located, b: Located): boolean {
  return byCodeUnit(pointerOf(a.at, a.document), pointerOf(b.at, b.document)) < 0
}

/** The key by which two versions of a contract have the same reference. */
export function danglingKey(reference: string, document: string): string {
  return `${document} ${reference}`
}

/** True for a reference to another file or address, whose content the referring text does not contain. */
export function leadsOutside(reference: string): boolean {
  return !reference.startsWith('#')
}

/** The unresolved references of one side, independent of member order. */
export function unresolvedIn(
  side: UnresolvedReference['side'],
  dangling: readonly DanglingReference[],
  tool: string | null = null,
): readonly UnresolvedReference[] {
  const places = dangling.map(({ reference, holder }) => {
    const location = writtenPointer(pointerOf(holder.at, holder.document))
    return [`${location} ${reference}`, { side, reference, location, tool }] as const
  })
  return [...new Map(places).values()]
}

/** Base before head, then by place and reference. */
export function sortedReferences(references: readonly UnresolvedReference[]): readonly UnresolvedReference[] {
  return references.toSorted(
    (a, b) => byCodeUnit(a.side, b.side) || byCodeUnit(a.location, b.location) || byCodeUnit(a.reference, b.reference),
  )
}
