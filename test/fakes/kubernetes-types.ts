/**
 * Checks objects against the types of the Kubernetes API in its official client, of which each release has one minor. Reports
 * unknown members and values of another type, which an API server with strict field validation refuses. Kinds of operators
 * (monitoring.coreos.com) are unknown here.
 */
import * as models from '@kubernetes/client-node'
import { at, textAt } from '../json.ts'

interface Attribute {
  readonly baseName: string
  readonly type: string
}

/** The exports of a release of the client. */
export type ClientModels = Readonly<Record<string, unknown>>

const NEWEST: ClientModels = { ...models }

/** The client as it was for an older minor; its own types are those of another release, so they are not used. */
export async function olderModels(name: 'kubernetes-client-1-34'): Promise<ClientModels> {
  const older: ClientModels = await import(name)
  return older
}

function attributesOf(type: string, from: ClientModels): readonly Attribute[] | null {
  const model = Object.hasOwn(from, type) ? from[type] : undefined
  if (typeof model !== 'function' || !('getAttributeTypeMap' in model)) return null
  const { getAttributeTypeMap: read } = model
  if (typeof read !== 'function') return null
  const attributes: readonly Attribute[] = Reflect.apply(read, model, [])
  return attributes
}

const PLAIN: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  IntOrString: (value) => typeof value === 'string' || Number.isInteger(value),
}

/** Each mistake with its place, e.g. `spec.template.spec.containers[0].ports[0].containerPort: not a number`. */
function faultsOf(value: unknown, type: string, place: string, from: ClientModels): readonly string[] {
  const list = /^Array<(.+)>$/.exec(type)?.[1]
  if (list !== undefined)
    return Array.isArray(value)
      ? value.flatMap((item, index) => faultsOf(item, list, `${place}[${index}]`, from))
      : [`${place}: not a list`]
  const map = /^\{ \[key: string\]: (.+?);? ?\}$/.exec(type)?.[1]
  if (typeof value === 'object' && value !== null && map !== undefined)
    return Object.entries(value).flatMap(([name, item]) =>
      faultsOf(item, map.replace(/;$/, ''), `${place}.${name}`, from),
    )
  const isPlain = Object.hasOwn(PLAIN, type) ? PLAIN[type] : undefined
  if (isPlain !== undefined) return isPlain(value) ? [] : [`${place}: not a ${type}`]
  const attributes = attributesOf(type, from)
  if (attributes === null) return []
  if (typeof value !== 'object' || value === null) return [`${place}: no object`]
  return Object.entries(value).flatMap(([name, item]) => {
    const attribute = attributes.find(({ baseName }) => baseName === name)
    return attribute === undefined
      ? [`${place}.${name}: unknown`]
      : faultsOf(item, attribute.type, `${place}.${name}`, from)
  })
}

/** Null: a kind that Kubernetes itself does not bring. */
export function typeFaults(object: unknown, from: ClientModels = NEWEST): readonly string[] | null {
  const kind = textAt(object, 'kind')
  const version = textAt(object, 'apiVersion').split('/').at(-1) ?? ''
  const type = `${version.charAt(0).toUpperCase()}${version.slice(1)}${kind}`
  if (textAt(object, 'apiVersion').startsWith('monitoring.') || attributesOf(type, from) === null) return null
  return faultsOf(object, type, `${kind}/${String(at(object, 'metadata', 'name'))}`, from)
}
