/**
 * Reads custom resource definitions of Kubernetes from one object, a `List` or a stream of YAML documents, in either
 * API version.
 */
import { ok, type Result } from '../../common/result.ts'
import {
  isRecord,
  locatedItems,
  memberOf,
  pointerOf,
  ROOT,
  type JsonRecord,
  type Located,
} from '../../schema/located.ts'
import type { SourceDocument } from '../document.ts'
import type { Locate } from '../positions.ts'
import { firstAt, unreadableAt } from '../unreadable.ts'

/** One version of a resource. */
export interface CrdVersion {
  readonly name: string
  readonly located: Located
  readonly isServed: boolean
  readonly isStored: boolean
  readonly isDeprecated: boolean
  /** Null if objects are not validated. */
  readonly schema: Located | null
  readonly subresources: Located | null
  readonly printerColumns: Located | null
  readonly selectableFields: Located | null
}

export interface Crd {
  /** `metadata.name`, which is `<plural>.<group>`. */
  readonly name: string
  readonly spec: Located
  readonly located: Located
  /** Whether it is written in v1beta1. */
  readonly isBeta: boolean
  readonly versions: ReadonlyMap<string, CrdVersion>
}

export interface CrdBundle {
  readonly crds: ReadonlyMap<string, Crd>
  /** API version of the definitions. Null if there are none. */
  readonly apiVersion: string | null
  readonly locate: Locate
}

const KIND = 'CustomResourceDefinition'
const BETA = 'apiextensions.k8s.io/v1beta1'
const API_VERSIONS: ReadonlySet<unknown> = new Set(['apiextensions.k8s.io/v1', BETA])

function isCrd(root: unknown): boolean {
  if (!isRecord(root)) return false
  const { kind, apiVersion } = root
  return kind === KIND && typeof apiVersion === 'string' && apiVersion.startsWith('apiextensions.k8s.io/')
}

/** Whether a document contains only definitions. */
export function holdsCrds(root: unknown): boolean {
  const objects = objectsOf({ value: root, at: ROOT, document: '' })
  return objects.length > 0 && objects.every(({ value }) => isCrd(value))
}

/** Reads every definition. The problem names the first fault by pointer and position. */
export function readCrds({ root, locate }: SourceDocument): Result<CrdBundle> {
  const crds = new Map<string, Crd>()
  let apiVersion: string | null = null
  const objects = objectsOf({ value: root, at: ROOT, document: '' })
  for (const object of objects) {
    const read = readCrd(object, locate)
    if (!read.ok) return read
    const { name } = read.value
    const first = crds.get(name)
    if (first !== undefined) {
      const place = firstAt(locate(pointerOf(first.located.at)), pointerOf(first.located.at))
      return crdFault(locate, object, `there are two definitions of the name ${JSON.stringify(name)}${place}`)
    }
    crds.set(name, read.value)
    const stated = isRecord(object.value) ? object.value['apiVersion'] : null
    if (typeof stated === 'string') apiVersion ??= stated
  }
  if (crds.size === 0) return crdFault(locate, { value: root, at: ROOT, document: '' }, 'it holds no object')
  return ok({ crds, apiVersion, locate })
}

/** The objects of a document. Empty documents of a stream are skipped. */
function objectsOf(root: Located): readonly Located[] {
  if (Array.isArray(root.value)) return locatedItems(root).filter(({ value }) => value !== null)
  const items = memberOf(root, 'items')
  const isList = isRecord(root.value) && typeof root.value['kind'] === 'string' && root.value['kind'].endsWith('List')
  return isList && items !== null && Array.isArray(items.value) ? locatedItems(items) : [root]
}

function readCrd(object: Located, locate: Locate): Result<Crd> {
  const { value } = object
  if (!isRecord(value)) return crdFault(locate, object, 'an item is not an object')
  if (!isCrd(value)) {
    const kind = typeof value['kind'] === 'string' ? `a ${value['kind']}` : 'no Kubernetes object'
    return crdFault(locate, object, `it holds ${kind}, where only ${KIND} objects of apiextensions.k8s.io are compared`)
  }
  if (!API_VERSIONS.has(value['apiVersion']))
    return crdFault(
      locate,
      memberOf(object, 'apiVersion') ?? object,
      `its apiVersion is ${String(value['apiVersion'])}, where ${[...API_VERSIONS].join(' and ')} are compared`,
    )
  const metadata = memberOf(object, 'metadata')
  const name = metadata === null ? null : memberOf(metadata, 'name')
  if (typeof name?.value !== 'string') return crdFault(locate, metadata ?? object, 'it has no metadata.name')
  const spec = memberOf(object, 'spec')
  if (spec === null || !isRecord(spec.value)) return crdFault(locate, object, 'it has no spec')
  const isBeta = value['apiVersion'] === BETA
  const versions = readVersions(spec, isBeta, locate)
  return versions.ok ? ok({ name: name.value, spec, located: object, isBeta, versions: versions.value }) : versions
}

function readVersions(spec: Located, isBeta: boolean, locate: Locate): Result<ReadonlyMap<string, CrdVersion>> {
  // v1beta1 may state once for all versions what v1 reads in each version only.
  const shared = isBeta ? spec : null
  const versions = new Map<string, CrdVersion>()
  const list = memberOf(spec, 'versions')
  if (list !== null && !Array.isArray(list.value)) return crdFault(locate, list, 'spec.versions is not a list')
  for (const item of locatedItems(list)) {
    const name = isRecord(item.value) ? item.value['name'] : undefined
    if (!isRecord(item.value) || typeof name !== 'string') return crdFault(locate, item, 'a version has no name')
    const first = versions.get(name)
    if (first !== undefined) {
      const place = firstAt(locate(pointerOf(first.located.at)), pointerOf(first.located.at))
      return crdFault(locate, item, `the version ${name} is there twice${place}`)
    }
    versions.set(name, crdVersion(name, item, shared, item.value))
  }
  // It can name a single version outside the list.
  const single = shared && memberOf(shared, 'version')
  if (versions.size === 0 && typeof single?.value === 'string') {
    const value = { name: single.value, served: true, storage: true }
    versions.set(single.value, crdVersion(single.value, { ...single, value }, shared, value))
  }
  return versions.size === 0 ? crdFault(locate, spec, 'it names no version') : ok(versions)
}

/** @param shared holds what is stated once for all versions; null: nothing is */
function crdVersion(name: string, item: Located, shared: Located | null, value: JsonRecord): CrdVersion {
  const sharedMember = (member: string): Located | null => shared && memberOf(shared, member)
  const part = (member: string): Located | null => memberOf(item, member) ?? sharedMember(member)
  const holder = memberOf(item, 'schema') ?? sharedMember('validation')
  return {
    name,
    located: item,
    isServed: value['served'] === true,
    isStored: value['storage'] === true,
    isDeprecated: value['deprecated'] === true,
    schema: holder === null ? null : memberOf(holder, 'openAPIV3Schema'),
    subresources: part('subresources'),
    printerColumns: part('additionalPrinterColumns'),
    selectableFields: part('selectableFields'),
  }
}

function crdFault(locate: Locate, { at }: Located, what: string): Result<never> {
  return unreadableAt(locate, pointerOf(at), `as a ${KIND}: ${what}`)
}
