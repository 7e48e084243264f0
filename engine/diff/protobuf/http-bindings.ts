/**
 * The HTTP bindings of an rpc (`google.api.http`) on both sides. A binding is kept if some binding still accepts its
 * requests with the same meaning.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoMessage, ProtoMethod, ProtoService } from '../../contracts/protobuf/model.ts'
import type { Operation } from '../../model/finding.ts'
import { operationOf } from './affected-rpcs.ts'
import { BindingIndex } from './binding-index.ts'
import { bindingsOf, type Binding } from './http-rules.ts'
import { HTTP_OPTION as OPTION } from './options.ts'
import type { ProtoWalk } from './walk.ts'

export function compareHttpBindings(base: ProtoMethod, head: ProtoMethod, operation: Operation, walk: ProtoWalk): void {
  const [before, after] = [bindingsOf(base.options), bindingsOf(head.options)]
  const place = { side: 'head', location: head.at, name: head.name, reaches: [operation] } as const
  const hasField = fieldCheck(head, walk.head)
  const inHead = indexOf(after)
  const lost = notAcceptedBy(inHead, before, hasField)
  const gained = notAcceptedBy(indexOf(before), after, hasField)
  for (const [index, binding] of lost.entries()) {
    const subject = `${head.fullName} ${OPTION} ${binding.text}`
    const [left] = inHead.overlapping(binding)
    const values = { before: binding.text, after: (gained[index] ?? left?.binding)?.text ?? 'none' }
    walk.add({ ...place, rule: 'proto-rpc-http-changed', subject, ...values })
  }
  for (const { text } of gained.slice(lost.length)) {
    const subject = `${head.fullName} ${OPTION} ${text}`
    walk.add({ ...place, rule: 'proto-rpc-http-binding-added', subject, after: text })
  }
}

type FieldCheck = (name: string) => boolean

type IndexedBindings = BindingIndex<{ readonly binding: Binding }>

function indexOf(bindings: readonly Binding[]): IndexedBindings {
  return new BindingIndex(bindings.map((binding) => ({ binding })))
}

function notAcceptedBy(index: IndexedBindings, bindings: readonly Binding[], hasField: FieldCheck): readonly Binding[] {
  return bindings.filter((binding) => !isAccepted(binding, index, hasField))
}

interface RoutedBinding {
  readonly service: ProtoService
  readonly method: ProtoMethod
  readonly binding: Binding
}

/**
 * Bindings that an rpc has on both sides, and whose calls a new binding of another rpc takes. The first of these is named:
 * each with each would be a finding for every pair.
 */
export function compareHttpRoutes(walk: ProtoWalk): void {
  const [base, head] = [routesOf(walk.base), routesOf(walk.head)]
  const [inBase, inHead] = [routesByMethod(base), routesByMethod(head)]
  const added = new BindingIndex(head.filter((route) => !isIn(route, inBase)).toSorted(byName))
  const methods = new Map(head.map(({ method }) => [method.fullName, method]))
  for (const kept of base) {
    if (!isIn(kept, inHead)) continue
    const { service, method, binding } = kept
    const taking = routeThatTakes(kept, added)
    if (taking === null) continue
    const values = { before: binding.text, after: `${taking.method.fullName}: ${taking.binding.text}` }
    walk.add({
      ...values,
      side: 'head',
      location: taking.method.at,
      name: method.name,
      rule: 'proto-rpc-http-shadowed',
      subject: `${method.fullName} ${binding.text} ${values.after}`,
      reaches: [operationOf(service, methods.get(method.fullName) ?? method)],
    })
  }
}

function byName(one: RoutedBinding, other: RoutedBinding): number {
  return byCodeUnit(one.method.fullName, other.method.fullName) || byCodeUnit(one.binding.text, other.binding.text)
}

function routeThatTakes(
  { service, method, binding }: RoutedBinding,
  added: BindingIndex<RoutedBinding>,
): RoutedBinding | null {
  for (const route of added.overlapping(binding))
    if (route.method.fullName !== method.fullName && areReachedAlike(service, route.service)) return route
  return null
}

type RoutesByMethod = ReadonlyMap<string, IndexedBindings>

function routesByMethod(routes: readonly RoutedBinding[]): RoutesByMethod {
  const byMethod = new Map<string, IndexedBindings>()
  for (const route of routes) {
    const known = byMethod.get(route.method.fullName)
    if (known === undefined) byMethod.set(route.method.fullName, new BindingIndex([route]))
    else known.add(route)
  }
  return byMethod
}

function isIn({ method, binding }: RoutedBinding, routes: RoutesByMethod): boolean {
  const own = routes.get(method.fullName)
  return own !== undefined && isAccepted(binding, own, () => true)
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

/** Whether a binding accepts every request of `held` with the same meaning. */
function isAccepted(held: Binding, by: IndexedBindings, hasField: FieldCheck): boolean {
  for (const { binding } of by.accepting(held)) {
    const isBody = binding.body === held.body && binding.responseBody === held.responseBody
    if (isBody && hasSameFields(held, binding, hasField)) return true
  }
  return false
}

/** The same segments fill the same fields. A name that is no longer a field was renamed with its field. */
function hasSameFields(held: Binding, binding: Binding, hasField: FieldCheck): boolean {
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

/** By message: many rpcs may take the same one. */
const fieldNames = new WeakMap<ProtoMessage, ReadonlySet<string>>()

function fieldNamesOf(message: ProtoMessage): ReadonlySet<string> {
  const names = fieldNames.get(message) ?? new Set(message.fields.map(({ name }) => name))
  fieldNames.set(message, names)
  return names
}

/** Whether the request of an rpc has a field, by the first name of its path. */
function fieldCheck({ input, scope }: ProtoMethod, contract: ProtoContract): FieldCheck {
  const message = contract.messages.get(contract.typeOf(input, scope).name)
  // A request type that is not available may have any field.
  if (message === undefined) return () => true
  return (path) => fieldNamesOf(message).has(path.split('.')[0] ?? '')
}
