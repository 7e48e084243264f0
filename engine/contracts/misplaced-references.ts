/**
 * References where a format has none: instead of a map, a list, or an object that is always written in place
 * (`paths: {$ref: ./paths.yaml}`). Common bundlers put the target there, so contracts are split so. What stands behind
 * such a reference is compared as if it were written in its place.
 */
import { isRecord, pointerOf, type JsonRecord, type Located } from '../schema/located.ts'
import type { FurtherDocuments } from './documents.ts'
import type { MalformedPart } from './malformed-parts.ts'
import { parsePointer } from './pointer.ts'
import { movesBetween, rewriteReferences } from './rewritten-references.ts'

/** A document with the files that it refers to. */
export interface Contents {
  readonly root: unknown
  readonly files: FurtherDocuments
}

/** What is known of a contract. */
interface Referring {
  readonly root: Located
  readonly malformed: ReadonlyMap<string, MalformedPart>
  readonly resolve: (reference: string, from: Located) => Located | null
}

/** A target may hold such references too. More of them within each other are malformed parts. */
const MAX_ROUNDS = 16

/** The contract as it reads with the targets of such references in their places. */
export function readInPlace<Contract extends Referring>(
  contents: Contents,
  read: (contents: Contents) => Contract,
): Contract {
  let current = contents
  let contract = read(current)
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = withTargets(current, contract)
    if (next === current) break
    current = next
    contract = read(current)
  }
  return contract
}

function withTargets(contents: Contents, { root, malformed, resolve }: Referring): Contents {
  let changed = contents
  for (const { located } of malformed.values()) {
    const holder = holderOf(located)
    const target = holder === null ? null : resolve(String(holder.value['$ref']), holder)
    if (holder === null || target === null) continue
    const pointer = pointerOf(holder.at)
    const steps = parsePointer(holder.document === '' ? pointer.slice(pointerOf(root.at).length) : pointer) ?? []
    changed = withPartAt(changed, holder.document, steps, mergedTarget(holder, target))
  }
  return changed
}

interface ObjectPart extends Located {
  readonly value: JsonRecord
}

/** The object with the reference, if that is what is malformed: it is the part itself, or a map with a text in it. */
function holderOf({ value, at, document }: Located): ObjectPart | null {
  if (isRecord(value)) return typeof value['$ref'] === 'string' ? { value, at, document } : null
  const isInMap = at.step === '$ref' && at.parent !== null && typeof value === 'string'
  return isInMap ? { value: { $ref: value }, at: at.parent, document } : null
}

/** What is next to the reference stays. */
function mergedTarget(holder: ObjectPart, target: Located): MakePart {
  const value =
    target.document === holder.document ? target.value : rewriteReferences(target.value, movesBetween(target, holder))
  return (held) => {
    const { $ref: _, ...siblings } = isRecord(held) ? held : {}
    return isRecord(value) && Object.keys(siblings).length > 0 ? { ...value, ...siblings } : value
  }
}

type MakePart = (held: unknown) => unknown

function withPartAt({ root, files }: Contents, document: string, steps: readonly string[], make: MakePart): Contents {
  if (document === '') return { root: replaced(root, steps, make), files }
  const content = replaced(files.open(document), steps, make)
  return { root, files: { ...files, open: (path) => (path === document ? content : files.open(path)) } }
}

function replaced(value: unknown, [step, ...steps]: readonly string[], make: MakePart): unknown {
  if (step === undefined) return make(value)
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (String(index) === step ? replaced(item, steps, make) : item))
  if (!isRecord(value) || !Object.hasOwn(value, step)) return value
  return { ...value, [step]: replaced(value[step], steps, make) }
}
