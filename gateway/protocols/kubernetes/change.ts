/**
 * Two states of one object → the contracts in it that change. Members that the API server itself writes (status,
 * versions, field ownership) are part of neither side.
 */
import { isUtf8 } from 'node:buffer'
import { canonicalJson, appendPointer } from '../../../engine/base.ts'
import type { Artifact, ArtifactType } from '../../../engine/internal.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { recordIn, textIn } from '../../json/unchecked-json.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import type { ResourceChecks, PresentedReceipt, ResourceCheck } from '../common/action.ts'
import { ENVELOPE_ANNOTATION, RECEIPT_ANNOTATION } from './receipt-annotations.ts'
import type { Flow } from '../../flow/flow.ts'

export type KubernetesObject = Readonly<Record<string, unknown>>

/** The contract type of a text; null when it shows none. */
export type Sniff = (text: string) => Promise<ArtifactType | null>

const SERVER_METADATA: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
])
/** Annotations that are not the object's own: receipts change, and kubectl keeps a copy of its input. */
const PASSING_ANNOTATIONS: ReadonlySet<string> = new Set([
  RECEIPT_ANNOTATION,
  ENVELOPE_ANNOTATION,
  'kubectl.kubernetes.io/last-applied-configuration',
])

/**
 * The author's part of an object, in canonical form so that the same state is the same text; empty for null.
 *
 * @param subresource that the object is written by; null: the object itself
 */
export function authoredText(object: KubernetesObject | null, subresource: string | null = null): string {
  if (object === null) return ''
  const own = authored(object)
  return canonicalJson(isStatusWritten(subresource) ? { ...own, status: withoutTimes(object['status'] ?? null) } : own)
}

/** Names one state of an object in a receipt (`context.head`): its author's part, whoever wrote the rest. */
export function contentDigest(object: KubernetesObject | null, subresource: string | null = null): string {
  return `sha256:${sha256Hex(authoredText(object, subresource))}`
}

/** Their objects have a status that is observed, or none. */
const OBSERVED: ReadonlySet<string> = new Set([
  'scale',
  'eviction',
  'binding',
  'finalize',
  'resize',
  'ephemeralcontainers',
])

/** What is written by `status`, `approval` and subresources of aggregated APIs may be the status alone. */
function isStatusWritten(subresource: string | null): boolean {
  return subresource !== null && !OBSERVED.has(subresource)
}

/** kubectl writes the present time into each condition. */
const TIMES: ReadonlySet<string> = new Set([
  'lastUpdateTime',
  'lastTransitionTime',
  'lastHeartbeatTime',
  'lastProbeTime',
])

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => !TIMES.has(name))
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutTimes(member)]))
}

function authored({ status: _status, ...object }: KubernetesObject): KubernetesObject {
  const metadata = recordIn(object['metadata'])
  const kept = Object.entries(metadata).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    if (SERVER_METADATA.has(name)) return []
    if (name !== 'annotations' || !isJsonObject(value)) return [[name, value]]
    const annotations = Object.entries(value).filter(([annotation]) => !PASSING_ANNOTATIONS.has(annotation))
    return annotations.length === 0 ? [] : [[name, Object.fromEntries(annotations)]]
  })
  return { ...object, metadata: Object.fromEntries(kept) }
}

/** resourceVersion; null when the object has none. */
export function resourceVersionOf(object: KubernetesObject | null): string | null {
  const metadata = recordIn(object?.['metadata'])
  return textIn(metadata['resourceVersion'])
}

interface HeldContractChange {
  readonly artifacts: readonly Artifact[]
  /** Something else of the object changes too. */
  readonly hasOther: boolean
}

/**
 * The texts of an object that are contracts and change, each an artifact of its own: `TARGET#/data/openapi.yaml`. A text is a
 * contract when either state of it is one, so it cannot be made to look like something else.
 */
async function contractChange(
  target: string,
  before: KubernetesObject | null,
  after: KubernetesObject | null,
  sniff: Sniff,
): Promise<HeldContractChange> {
  const base = textsByPointer(before)
  const head = textsByPointer(after)
  const artifacts: Artifact[] = []
  const judged = new Set<string>()
  for (const pointer of new Set([...base.keys(), ...head.keys()])) {
    const [before, after] = [base.get(pointer) ?? '', head.get(pointer) ?? '']
    if (before === after) continue
    const type = (await typeOf(pointer, before, sniff)) ?? (await typeOf(pointer, after, sniff))
    if (type === null) continue
    judged.add(pointer)
    artifacts.push({ id: `${target}#${pointer}`, type, before, after, path: pointer })
  }
  return { artifacts, hasOther: restText(before, judged) !== restText(after, judged) }
}

/** Both states of an object, and what a check of its contracts needs as well. */
interface ContractTerms {
  readonly before: KubernetesObject | null
  readonly after: KubernetesObject | null
  readonly receipts: readonly PresentedReceipt[]
  /** Asks for a receipt for all else that changes; null: the route requires none. */
  readonly otherChange: (() => ResourceCheck | Promise<ResourceCheck>) | null
  readonly sniff: Sniff
}

/** The checks of a write to an object that may hold contracts: about those that change, and about the rest. */
export async function contractChecks(resource: JudgedResource, terms: ContractTerms): Promise<ResourceChecks> {
  const { before, after, receipts, otherChange, sniff } = terms
  const { artifacts, hasOther } = await contractChange(resource.target, before, after, sniff)
  const basis = { kind: 'change_set', artifacts, unreadable: [] } as const
  const judged = artifacts.length === 0 ? [] : [{ resource, basis, receipts }]
  if (hasOther && otherChange !== null) return [...judged, await otherChange()]
  return judged.length === 0 ? 'nothing' : judged
}

/** Names that say what is in them, for texts that cannot be read: those must end as unreadable contracts, not as no contracts. */
const NAMES: readonly (readonly [RegExp, ArtifactType])[] = [
  [/(?:openapi|swagger)[^/]*\.(?:ya?ml|json)$/i, 'openapi'],
  [/asyncapi[^/]*\.(?:ya?ml|json)$/i, 'asyncapi'],
  [/\.(?:graphqls?|gql)$/i, 'graphql'],
  [/\.proto$/i, 'protobuf'],
]

async function typeOf(pointer: string, text: string, sniff: Sniff): Promise<ArtifactType | null> {
  if (text === '') return null
  return (await sniff(text)) ?? NAMES.find(([name]) => name.test(pointer))?.[1] ?? null
}

/** Of both sides without server fields: pointer (RFC 6901) → text, for every text outside metadata. */
function textsByPointer(object: KubernetesObject | null): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  if (object === null) return texts
  const { apiVersion: _apiVersion, kind, metadata: _metadata, status: _status, ...members } = object
  const encoded = kind === 'Secret' ? ENCODED_IN_SECRETS : ENCODED
  walk(members, '', (pointer, text) => texts.set(pointer, encoded.test(pointer) ? decodedText(text) : text))
  return texts
}

/** Members in base64: whoever mounts the object reads the same file as from a plain member. */
const ENCODED = /^\/binaryData\//
const ENCODED_IN_SECRETS = /^\/(?:binaryData|data)\//

/** What is no text stays as it is. */
function decodedText(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  return isUtf8(bytes) ? bytes.toString('utf8') : base64
}

function walk(value: unknown, pointer: string, onText: (pointer: string, text: string) => void): void {
  if (typeof value === 'string') onText(pointer, value)
  else if (Array.isArray(value)) value.forEach((item, index) => walk(item, `${pointer}/${index}`, onText))
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) walk(member, appendPointer(pointer, name), onText)
  }
}

/** The object without the texts that are judged. */
function restText(object: KubernetesObject | null, judged: ReadonlySet<string>): string {
  return object === null ? '' : canonicalJson(withoutJudged(authored(object), '', judged) ?? {})
}

/** Undefined: nothing is left of it, so that a first contract under `data` changes no more than itself. */
function withoutJudged(value: unknown, pointer: string, judged: ReadonlySet<string>): unknown {
  if (judged.has(pointer)) return undefined
  if (Array.isArray(value))
    return value.map((item, index) => withoutJudged(item, `${pointer}/${index}`, judged) ?? null)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value)
  const kept = members.flatMap(([name, member]) => {
    const rest = withoutJudged(member, appendPointer(pointer, name), judged)
    return rest === undefined ? [] : [[name, rest] as const]
  })
  return kept.length === 0 && members.length > 0 ? undefined : Object.fromEntries(kept)
}

/** As the engine sniffs it. */
export function sniffing(flow: Pick<Flow, 'sniff'>): Sniff {
  return async (text) => {
    const type = await flow.sniff('', text)
    return type.ok ? type.value : null
  }
}
