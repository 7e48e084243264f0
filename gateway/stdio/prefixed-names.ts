/**
 * Names of several servers behind one endpoint. Tools and prompts are `SERVER__NAME`, and addresses of resources are
 * `SERVER+ADDRESS`: both say which server they belong to, without a table.
 */
import { isJsonObject } from '../json/strict-json.ts'
import { textIn } from '../json/unchecked-json.ts'
import { JsonText } from './json-edits.ts'

const SEPARATOR = '__'
/** A name of a server has no `_` and no `+`. */
const OWN_NAME = /^([a-z][a-z0-9-]*)__(.+)$/s
const OWN_ADDRESS = /^([a-z][a-z0-9-]*)\+(.+)$/s

/** Where requests of a method name what they are for, from their `params` on. */
interface NamedPlace {
  readonly at: readonly string[]
  readonly form: 'name' | 'address'
}

const TARGETS: ReadonlyMap<string, readonly NamedPlace[]> = new Map([
  ['tools/call', [{ at: ['name'], form: 'name' }]],
  ['prompts/get', [{ at: ['name'], form: 'name' }]],
  ['resources/read', [{ at: ['uri'], form: 'address' }]],
  ['resources/subscribe', [{ at: ['uri'], form: 'address' }]],
  ['resources/unsubscribe', [{ at: ['uri'], form: 'address' }]],
  [
    'completion/complete',
    [
      { at: ['ref', 'name'], form: 'name' },
      { at: ['ref', 'uri'], form: 'address' },
    ],
  ],
])

/** How the elements of a list are named; the list is `member` of the result. */
export const LISTS: ReadonlyMap<
  string,
  { readonly member: string; readonly key: string; readonly form: NamedPlace['form'] }
> = new Map([
  ['tools/list', { member: 'tools', key: 'name', form: 'name' }],
  ['prompts/list', { member: 'prompts', key: 'name', form: 'name' }],
  ['resources/list', { member: 'resources', key: 'uri', form: 'address' }],
  ['resources/templates/list', { member: 'resourceTemplates', key: 'uriTemplate', form: 'address' }],
])

interface Addressed {
  readonly server: string
  /** As the server itself reads it. */
  readonly text: string
}

/** Null: methods of this kind are for no single server, or the request names none. */
export function addressedIn(text: string, method: string, params: unknown): Addressed | null {
  for (const { at, form } of TARGETS.get(method) ?? []) {
    const [, server, own] = (form === 'name' ? OWN_NAME : OWN_ADDRESS).exec(textAtPlace(params, at) ?? '') ?? []
    if (server === undefined || own === undefined) continue
    return { server, text: new JsonText(text).with([{ at: ['params', ...at], value: own }]) }
  }
  return null
}

/** True for methods whose requests name one server. */
export function isAddressed(method: string): boolean {
  return TARGETS.has(method)
}

/** The elements of a page, with the names that clients use. */
export function prefixedElements(server: string, text: string, method: string): readonly string[] {
  const list = LISTS.get(method)
  if (list === undefined) return []
  return new JsonText(text).elements(['result', list.member]).map((element) => {
    const value: unknown = JSON.parse(element)
    const name = isJsonObject(value) ? value[list.key] : undefined
    if (typeof name !== 'string') return element
    return new JsonText(element).with([{ at: [list.key], value: prefixed(server, name, list.form) }])
  })
}

/** A message of a server to the client: addresses of resources get the name of the server. */
export function withPrefixedAddresses(server: string, text: string, within: 'result' | 'params'): string {
  if (!text.includes('"uri"')) return text
  const json = new JsonText(text)
  const edits = placesOfAddresses(json, within)
  return json.with(edits.map(({ at, value }) => ({ at, value: prefixed(server, value, 'address') })))
}

/** Members of a result in which addresses of resources stand; the structured content of a tool is its own. */
const WITH_ADDRESSES = ['contents', 'content', 'messages']

function placesOfAddresses(json: JsonText, within: 'result' | 'params') {
  if (within === 'params') return json.textsUnder('uri', ['params']).filter(({ at }) => at.length === 2)
  return WITH_ADDRESSES.flatMap((member) => json.textsUnder('uri', ['result', member]))
}

function prefixed(server: string, name: string, form: NamedPlace['form']): string {
  return `${server}${form === 'name' ? SEPARATOR : '+'}${name}`
}

function textAtPlace(value: unknown, at: readonly string[]): string | null {
  let found = value
  for (const member of at) found = isJsonObject(found) && Object.hasOwn(found, member) ? found[member] : undefined
  return textIn(found)
}
