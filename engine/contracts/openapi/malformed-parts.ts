/**
 * Parts of a contract that have another JSON type than the specification states, such as parameters in a map. They are read as
 * absent, so no other finding is about them.
 */
import { isRecord, locatedItems, memberOf, pointerOf, stepInto, type Located } from '../../schema/located.ts'
import { METHODS, type OpenApiContract } from './contract.ts'

/** The JSON type that a part must have. */
export type Form = 'an object' | 'a list' | 'a schema'

export interface MalformedPart {
  readonly located: Located
  readonly form: Form
}

/** The objects of the specification, by what they may contain. Swagger 2.0 and OpenAPI 3 have no member of two meanings. */
type Kind =
  | 'contract'
  | 'components'
  | 'path item'
  | 'operation'
  | 'parameter'
  | 'request body'
  | 'response'
  | 'media type'
  | 'encoding'
  | 'callback'
  | 'schema'
  | 'other'

interface Member {
  readonly holds: 'one' | 'list' | 'map'
  readonly kind: Kind
}

const one = (kind: Kind): Member => ({ holds: 'one', kind })
const list = (kind: Kind): Member => ({ holds: 'list', kind })
const map = (kind: Kind): Member => ({ holds: 'map', kind })

/** What each object may contain. */
const MEMBERS: Readonly<Record<Kind, ReadonlyMap<string, Member>>> = {
  contract: members({
    paths: map('path item'),
    webhooks: map('path item'),
    components: one('components'),
    definitions: map('schema'),
    parameters: map('parameter'),
    responses: map('response'),
    securityDefinitions: map('other'),
    security: list('other'),
    servers: list('other'),
  }),
  components: members({
    schemas: map('schema'),
    responses: map('response'),
    parameters: map('parameter'),
    requestBodies: map('request body'),
    headers: map('parameter'),
    securitySchemes: map('other'),
    links: map('other'),
    callbacks: map('callback'),
    pathItems: map('path item'),
    mediaTypes: map('media type'),
  }),
  'path item': members({
    ...Object.fromEntries(METHODS.map((method) => [method, one('operation')])),
    additionalOperations: map('operation'),
    parameters: list('parameter'),
    servers: list('other'),
  }),
  operation: members({
    parameters: list('parameter'),
    requestBody: one('request body'),
    responses: map('response'),
    callbacks: map('callback'),
    security: list('other'),
    servers: list('other'),
  }),
  parameter: members({ schema: one('schema'), content: map('media type'), items: one('schema') }),
  'request body': members({ content: map('media type') }),
  response: members({
    headers: map('parameter'),
    content: map('media type'),
    links: map('other'),
    schema: one('schema'),
  }),
  'media type': members({
    schema: one('schema'),
    itemSchema: one('schema'),
    encoding: map('encoding'),
    prefixEncoding: list('encoding'),
    itemEncoding: one('encoding'),
  }),
  encoding: members({ headers: map('parameter'), encoding: map('encoding') }),
  callback: members({}),
  schema: members({}),
  other: members({}),
}

/** Objects whose own members are named by their author, beside extensions (`x-`). */
const EXTENDED: ReadonlySet<Kind> = new Set<Kind>(['path item', 'response', 'callback'])

function members(table: Readonly<Record<string, Member>>): ReadonlyMap<string, Member> {
  return new Map(Object.entries(table))
}

/** By pointer, with the path of a further file. Targets of references are looked at where they are used. */
export function malformedParts({ documents, root }: OpenApiContract): ReadonlyMap<string, MalformedPart> {
  const found = new Map<string, MalformedPart>()
  const seen = new Set<object>()
  const open: { readonly located: Located; readonly kind: Kind }[] = []
  const report = (located: Located, form: Form): void => {
    found.set(pointerOf(located.at, located.document), { located, form })
  }
  const visit = (located: Located, kind: Kind): void => {
    const target = documents.follow(located)
    // A reference without a target is reported as such, and an empty value of YAML is an absent one.
    if (target === null || target.value === null) return
    if (kind === 'schema') {
      if (!isRecord(target.value) && typeof target.value !== 'boolean') report(target, 'a schema')
    } else if (isRecord(target.value)) open.push({ located: target, kind })
    else report(target, 'an object')
  }
  const visitEach = (held: Located, kind: Kind): void => {
    if (!isRecord(held.value)) return report(held, 'an object')
    const isExtended = EXTENDED.has(kind)
    for (const name in held.value) {
      if (isWrittenSchema(held.value[name], kind) || (isExtended && name.startsWith('x-'))) continue
      visit({ value: held.value[name], at: stepInto(held.at, name), document: held.document }, kind)
    }
  }
  const visitMember = (held: Located, { holds, kind }: Member): void => {
    if (holds === 'one') visit(held, kind)
    else if (held.value === null) return
    else if (holds === 'map') visitEach(held, kind)
    else if (Array.isArray(held.value)) for (const item of locatedItems(held)) visit(item, kind)
    else report(held, 'a list')
  }
  visit(root, 'contract')
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { located, kind } = next
    if (!isRecord(located.value) || seen.has(located.value)) continue
    seen.add(located.value)
    if (kind === 'callback') visitEach(located, 'path item')
    const known = MEMBERS[kind]
    for (const name in located.value) {
      const member = known.get(name)
      if (member === undefined || isWrittenSchema(located.value[name], member.kind)) continue
      const held = memberOf(located, name)
      if (held !== null) visitMember(held, member)
    }
  }
  return found
}

/** Most parts are schemas that are written in place. */
function isWrittenSchema(value: unknown, kind: Kind): boolean {
  return kind === 'schema' && isRecord(value) && value.$ref === undefined
}
