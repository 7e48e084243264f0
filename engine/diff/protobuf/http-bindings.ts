/**
 * The HTTP bindings of an rpc (`google.api.http`) on both sides. A binding is kept if some binding still accepts its
 * requests with the same meaning.
 */
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { Options } from '../../contracts/protobuf/features.ts'
import type { ProtoMethod, ProtoService } from '../../contracts/protobuf/model.ts'
import type { Operation } from '../../model/finding.ts'
import { operationOf } from './affected-rpcs.ts'
import { isRecord, type JsonRecord } from '../../schema/located.ts'
import { HTTP_OPTION as OPTION } from './options.ts'
import type { ProtoWalk } from './walk.ts'

const METHODS = ['get', 'put', 'post', 'delete', 'patch']

interface Binding {
  /** As text: `GET /v1/notes/{id}`. */
  readonly text: string
  readonly method: string
  readonly template: Template
  readonly body: string
  readonly responseBody: string
}

interface Template {
  /** Literals, `*` for one segment and `**` for all remaining ones. The verb after the last colon is included. */
  readonly segments: readonly string[]
  readonly verb: string
  /** The fields taken from the path, each with its segments. */
  readonly variables: readonly TemplateVariable[]
}

interface TemplateVariable {
  readonly field: string
  readonly from: number
  readonly to: number
}

export function compareHttpBindings(base: ProtoMethod, head: ProtoMethod, operation: Operation, walk: ProtoWalk): void {
  const [before, after] = [bindingsOf(base.options), bindingsOf(head.options)]
  const place = { side: 'head', location: head.at, name: head.name, reaches: [operation] } as const
  const hasField = fieldCheck(head, walk.head)
  const lost = before.filter((one) => !after.some((other) => isAcceptedBy(other, one, hasField)))
  const won = after.filter((one) => !before.some((other) => isAcceptedBy(other, one, hasField)))
  const successors = [...won]
  for (const binding of lost) {
    const successor = successors.shift()
    const subject = `${head.fullName} ${OPTION} ${binding.text}`
    const values = { before: binding.text, after: successor?.text ?? 'none' }
    walk.add({ ...place, rule: 'proto-rpc-http-changed', subject, ...values })
  }
  for (const { text } of successors) {
    const subject = `${head.fullName} ${OPTION} ${text}`
    walk.add({ ...place, rule: 'proto-rpc-http-binding-added', subject, after: text })
  }
}

interface RoutedBinding {
  readonly service: ProtoService
  readonly method: ProtoMethod
  readonly binding: Binding
}

/** Bindings that are new in the head, and take calls that one of another rpc takes on both sides. */
export function compareHttpRoutes(walk: ProtoWalk): void {
  const [base, head] = [routesOf(walk.base), routesOf(walk.head)]
  const kept = base.filter((route) => hasRoute(head, route))
  for (const added of head) {
    if (hasRoute(base, added)) continue
    for (const { service, method, binding } of kept) {
      if (method.fullName === added.method.fullName || !areReachedAlike(service, added.service)) continue
      if (!doOverlap(binding, added.binding)) continue
      const current = walk.head.services.get(service.fullName)?.methods.find(({ name }) => name === method.name)
      const values = { before: binding.text, after: `${added.method.fullName}: ${added.binding.text}` }
      const place = { side: 'head', location: added.method.at, name: method.name } as const
      const subject = `${method.fullName} ${binding.text} ${values.after}`
      walk.add({
        ...place,
        ...values,
        rule: 'proto-rpc-http-shadowed',
        subject,
        reaches: [operationOf(service, current ?? method)],
      })
    }
  }
}

function hasRoute(routes: readonly RoutedBinding[], { method, binding }: RoutedBinding): boolean {
  return routes.some((one) => one.method.fullName === method.fullName && isAcceptedBy(one.binding, binding, () => true))
}

function routesOf({ services }: ProtoContract): readonly RoutedBinding[] {
  return [...services.values()].flatMap((service) =>
    service.methods.flatMap((method) => bindingsOf(method.options).map((binding) => ({ service, method, binding }))),
  )
}

const HOST = '(google.api.default_host)'

/** Services of two hosts share no path. */
function areReachedAlike(one: ProtoService, other: ProtoService): boolean {
  const [host, further] = [one.options.get(HOST), other.options.get(HOST)]
  return host === undefined || further === undefined || host === further
}

function doOverlap(one: Binding, other: Binding): boolean {
  if (one.method !== other.method || one.template.verb !== other.template.verb) return false
  const [segments, others] = [one.template.segments, other.template.segments]
  for (let index = 0; index < Math.max(segments.length, others.length); index += 1) {
    const [a, b] = [segments[index], others[index]]
    if (a === '**' || b === '**') return true
    if (a === undefined || b === undefined) return false
    if (a !== b && a !== '*' && b !== '*') return false
  }
  return true
}

/** Whether `binding` accepts every request of `held` with the same meaning. */
function isAcceptedBy(binding: Binding, held: Binding, hasField: (name: string) => boolean): boolean {
  const isSame = binding.method === held.method && binding.template.verb === held.template.verb
  const isBody = binding.body === held.body && binding.responseBody === held.responseBody
  return isSame && isBody && isPathWithin(held.template, binding.template) && hasSameFields(held, binding, hasField)
}

function isPathWithin(part: Template, whole: Template): boolean {
  const [segments, pattern] = [part.segments, whole.segments]
  for (const [index, expected] of pattern.entries()) {
    if (expected === '**') return true
    const segment = segments[index]
    if (segment === undefined || segment === '**') return false
    if (expected !== '*' && segment !== expected) return false
  }
  return segments.length === pattern.length
}

/** The same segments fill the same fields. A name that is no longer a field was renamed with its field. */
function hasSameFields(held: Binding, binding: Binding, hasField: (name: string) => boolean): boolean {
  const [before, after] = [held.template.variables, binding.template.variables]
  if (before.length !== after.length) return false
  return before.every((variable, index) => {
    const other = after[index]
    if (other === undefined || variable.from !== other.from) return false
    const areRest = variable.to === held.template.segments.length && other.to === binding.template.segments.length
    if (variable.to !== other.to && !(areRest && binding.template.segments.at(-1) === '**')) return false
    const isRenamed = !hasField(variable.field) || !hasField(other.field)
    return variable.field === other.field || isRenamed
  })
}

/** Whether the request of an rpc has a field, by the first name of its path. */
function fieldCheck({ input, scope }: ProtoMethod, contract: ProtoContract): (path: string) => boolean {
  const message = contract.messages.get(contract.typeOf(input, scope).name)
  // A request type that is not available may have any field.
  if (message === undefined) return () => true
  const names = new Set(message.fields.map(({ name }) => name))
  return (path) => names.has(path.split('.')[0] ?? '')
}

function bindingsOf(options: Options): readonly Binding[] {
  const whole = options.get(OPTION)
  const members = [...options]
    .filter(([name]) => name.startsWith(`${OPTION}.`))
    .map(([name, value]) => [name.slice(OPTION.length + 1), value] as const)
  const rules: readonly unknown[] = Array.isArray(whole) ? whole : whole === undefined ? [] : [whole]
  const set = members.length === 0 ? [] : [nested(members)]
  return [...rules, ...set].flatMap((rule) => (isRecord(rule) ? readRule(rule) : []))
}

/** `option (google.api.http).custom.kind = "HEAD"` sets one member of the whole option. */
function nested(members: readonly (readonly [string, unknown])[]): JsonRecord {
  const custom = members.filter(([name]) => name.startsWith('custom.')).map(([name, value]) => [name.slice(7), value])
  const own = members.filter(([name]) => !name.includes('.'))
  return { ...Object.fromEntries(own), ...(custom.length === 0 ? {} : { custom: Object.fromEntries(custom) }) }
}

/** A rule and its additional bindings. A rule without a path binds nothing. */
function readRule(rule: JsonRecord): readonly Binding[] {
  const further: unknown = rule.additional_bindings ?? []
  const rules: readonly unknown[] = Array.isArray(further) ? further : [further]
  return [...ownBindings(rule), ...rules.flatMap((one) => (isRecord(one) ? ownBindings(one) : []))]
}

function ownBindings(rule: JsonRecord): readonly Binding[] {
  const text = (name: string): string => (typeof rule[name] === 'string' ? rule[name] : '')
  const custom = isRecord(rule.custom) ? rule.custom : {}
  const [kind, customPath] = [custom.kind, custom.path]
  const paths = METHODS.map((method) => [method.toUpperCase(), rule[method]] as const)
  return [...paths, [typeof kind === 'string' ? kind : '*', customPath] as const].flatMap(([method, path]) => {
    if (typeof path !== 'string') return []
    const [body, responseBody] = [text('body'), text('response_body')]
    const notes = [body === '' ? '' : ` with body ${body}`, responseBody === '' ? '' : ` answering ${responseBody}`]
    return [{ text: `${method} ${path}${notes.join('')}`, method, template: readTemplate(path), body, responseBody }]
  })
}

/** `/v1/{name=projects/*}/notes:archive` (google/api/http.proto, Path template syntax). */
function readTemplate(path: string): Template {
  const colon = path.lastIndexOf(':')
  const isVerb = colon > path.lastIndexOf('/') && colon > path.lastIndexOf('}')
  const [body, verb] = isVerb ? [path.slice(0, colon), path.slice(colon + 1)] : [path, '']
  const segments: string[] = []
  const variables: TemplateVariable[] = []
  for (const [, field, pattern, literal] of body.matchAll(/\{([^{}=]+)(?:=([^{}]*))?\}|([^/{}]+)/g)) {
    if (field === undefined) {
      segments.push(literal ?? '')
      continue
    }
    const from = segments.length
    segments.push(...(pattern ?? '*').split('/').filter((segment) => segment !== ''))
    variables.push({ field: field.trim(), from, to: segments.length })
  }
  return { segments, verb, variables }
}
