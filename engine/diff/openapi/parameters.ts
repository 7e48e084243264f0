/** Parameters of one operation and its path, matched by location and name. */
import {
  effectiveParameters,
  parametersOf,
  sentParameters,
  type OpenApiContract,
  type Parameter,
} from '../../contracts/openapi/contract.ts'
import { contentOf, schemaOfParameter } from '../../contracts/openapi/payloads.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { dayOf, lifecycleChange, removalNotice } from '../../schema/lifecycle.ts'
import { resolveSchema } from '../../schema/source.ts'
import { membersOf } from '../../schema/subschemas.ts'
import { matchByKey, matchRest, type Matched } from '../match.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import type { OpenApiChange, OpenApiFacts } from '../../rules/openapi/changes.ts'
import type { OperationSide, OperationWalk } from './walk.ts'
import { fieldChanges } from './encodings.ts'
import { isIgnoredHeader } from './headers.ts'
import { templateNames } from './path-templates.ts'
import { anySchema, isSentByMembers, styleOf, writingChange } from './serialization.ts'

export function compareParameters(walk: OperationWalk, before: OperationSide, after: OperationSide): void {
  compareFormFields(walk, before, after)
  const isMeant = ({ place, name }: Parameter): boolean => place !== 'header' || !isIgnoredHeader(walk, name, 'request')
  const base = effectiveParameters(walk.base, before.item, before.operation).filter(isMeant)
  const head = effectiveParameters(walk.head, after.item, after.operation).filter(isMeant)
  if (base.length === 0 && head.length === 0) return
  const named = matchParameters(base, head, before.item.path, after.item.path)
  const { added, removed, kept } = matchUnnamed(walk, named)
  for (const parameter of removed) reportRemovedParameter(walk, parameter)
  const own = added.length === 0 ? [] : parametersOf(walk.head, after.operation.located).map(parameterKey)
  for (const parameter of added) {
    const { name, place, isRequired, located } = parameter
    const facts = { name, place, isRequired, isInherited: !own.includes(parameterKey(parameter)) }
    reportAdded(walk, `${walk.exchange.prefix}parameter-added`, facts, { located, after: name })
  }
  reportMovedParameters(walk, kept)
  for (const [before, after] of kept) compareParameter(walk, before, after)
}

/** The fields of a form are compared as a body (Swagger 2.0), apart from what is no schema. */
function compareFormFields(walk: OperationWalk, before: OperationSide, after: OperationSide): void {
  if (!walk.base.isSwagger || !walk.head.isSwagger) return
  const base = sentParameters(walk.base, before.item, before.operation)
  const head = sentParameters(walk.head, after.item, after.operation)
  for (const [one, other] of matchByKey(base, head, parameterKey).kept) compareEmptiness(walk, one, other)
}

function parameterKey({ place, name }: Parameter): string {
  return `${place} ${name}`
}

/**
 * Matches path parameters by position, because a call shows only that; other parameters by the name that is sent. Positions
 * count from the end, because a prefix may have been removed.
 */
function matchParameters(
  base: readonly Parameter[],
  head: readonly Parameter[],
  basePath: string,
  headPath: string,
): Matched<Parameter> {
  const byName = basePath === headPath ? matchByKey(base, head, parameterKey) : null
  // Of one path, equal names are at equal positions.
  if (byName !== null && byName.added.length === 0 && byName.removed.length === 0) return byName
  const positions = new Map([...positionsOf(base, basePath), ...positionsOf(head, headPath)])
  const placed = (parameter: Parameter): string => positions.get(parameter) ?? parameterKey(parameter)
  return matchRest(matchRest(matchByKey(base, head, placed), parameterKey), sentKeyOf)
}

/** Matches parameters of which only the members are sent by these, whatever their names are. The others stay matched. */
function matchUnnamed({ base, head }: OperationWalk, named: Matched<Parameter>): Matched<Parameter> {
  const known = new Map<Parameter, string | null>()
  const sentOf = (parameter: Parameter, contract: OpenApiContract): string | null => {
    const sent = known.get(parameter) ?? membersSent(parameter, contract)
    known.set(parameter, sent)
    return sent
  }
  const isLoose = ([before, after]: readonly [Parameter, Parameter]): boolean => {
    if (before.value === after.value) return false
    const sides = [sentOf(before, base), sentOf(after, head)]
    return !sides.includes(null) && sides[0] !== sides[1]
  }
  const loose = named.kept.filter(isLoose)
  const removed = [...named.removed, ...loose.map(([before]) => before)]
  const added = [...named.added, ...loose.map(([, after]) => after)]
  if (removed.length === 0 || added.length === 0) return named
  for (const parameter of removed) sentOf(parameter, base)
  for (const parameter of added) sentOf(parameter, head)
  const keyOf = (parameter: Parameter, sent: string): string =>
    known.get(parameter) === null ? parameterKey(parameter) : `${parameter.place} of ${sent}`
  const kept = loose.length === 0 ? named.kept : named.kept.filter((pair) => !loose.includes(pair))
  const alike = matchRest({ added, removed, kept }, (parameter) => keyOf(parameter, known.get(parameter) ?? ''))
  return matchRest(matchRest(alike, parameterKey), (parameter) => keyOf(parameter, 'others'))
}

/** The names that a parameter is sent by, in place of its own, as one text; null where its own is sent. */
function membersSent(parameter: Parameter, contract: OpenApiContract): string | null {
  if (!isSentByMembers(parameter, contract)) return null
  const schema = schemaOfParameter(contract, parameter)
  const members = schema === null ? {} : membersOf(resolveSchema(schema, contract.documents).value, 'properties')
  return JSON.stringify(Object.keys(members).sort(byCodeUnit))
}

/** Header fields have a name in any letter case; the whole query is sent without one (OpenAPI 3.2.0 §4.12.1). */
function sentKeyOf(parameter: Parameter): string {
  const { place } = parameter
  return place === 'header'
    ? parameterKey(parameter).toLowerCase()
    : place === 'querystring'
      ? place
      : parameterKey(parameter)
}

function positionsOf(parameters: readonly Parameter[], path: string): readonly (readonly [Parameter, string])[] {
  const names = templateNames(path)
  return parameters.flatMap((parameter) => {
    const index = parameter.place === 'path' ? names.lastIndexOf(parameter.name) : -1
    return index === -1 ? [] : [[parameter, `path #${names.length - index}`] as const]
  })
}

/**
 * Path parameters that swapped names. A client that fills in the old path by name now fills in a different parameter.
 */
function reportMovedParameters(walk: OperationWalk, kept: Matched<Parameter>['kept']): void {
  const moved = kept.filter(([base, head]) => base.place === 'path' && base.name !== head.name)
  const baseNames = new Set(moved.map(([base]) => base.name))
  for (const [base, { name, place, located }] of moved) {
    if (!baseNames.has(name)) continue
    const facts = { name, place, before: base.name, after: name }
    reportChanged(walk, `${walk.exchange.prefix}parameter-moved`, facts, { located, before: base.name, after: name })
  }
}

function reportRemovedParameter(walk: OperationWalk, { name, place, located, isRequired, lifecycle }: Parameter): void {
  const { sunset } = lifecycle
  const removal = removalNotice(lifecycle, walk.options)
  // As for operations: a removal after its announced sunset date is not reported.
  if (removal === 'after-sunset') return
  const facts = { name, place, isRequired, removal, sunset: dayOf(sunset) ?? sunset }
  reportRemoved(walk, `${walk.exchange.prefix}parameter-removed`, facts, { located, before: name })
}

function compareParameter(walk: OperationWalk, base: Parameter, head: Parameter): void {
  if (base.value === head.value) return
  const { prefix, lead, parameterAt } = walk.exchange
  const { name, place, located } = head
  const of = { name, place }
  const reportParameter = <Change extends OpenApiChange>(
    change: Change,
    facts: OpenApiFacts[Change],
    before: unknown,
    after: unknown,
  ): void => reportChanged(walk, change, facts, { located, before, after })
  if (base.isRequired !== head.isRequired) {
    reportParameter(
      `${prefix}parameter-requiredness`,
      { ...of, action: head.isRequired ? 'became' : 'ceased' },
      base.isRequired,
      head.isRequired,
    )
  }
  compareEmptiness(walk, base, head)
  const life = lifecycleChange(base.lifecycle, head.lifecycle, walk.options)
  if (life !== null && prefix === '')
    reportParameter('parameter-lifecycle', { ...of, ...life }, base.lifecycle.sunset, head.lifecycle.sunset)
  const writing = writingChange(walk, base, head)
  // A server that takes reserved characters as they are takes their encoded form too.
  const isOnlyOpened = prefix === '' && writing?.isOnlyReserved === true
  if (writing !== null && !isOnlyOpened)
    reportParameter(`${prefix}parameter-${writing.of}`, of, writing.before, writing.after)
  if (writing?.isOtherKind === true) return
  compareFields(walk, base, head)
  const before = schemaOfParameter(walk.base, base)
  const after = schemaOfParameter(walk.head, head)
  if (before === null && after === null) return
  // Repeated in the query, a list with one item is written like the former scalar.
  const style = styleOf(head, walk.head)
  const repeats = style.name === 'form' && style.isExploded
  walk.use(
    {
      sites: parameterAt(place),
      mediaType: contentOf(walk.head, located)[0]?.name ?? null,
      operation: walk.operation,
      where: `${lead}${place} parameter ${name}`,
      parameter: { name, isRequired: base.isRequired || head.isRequired, repeats },
    },
    before ?? anySchema(base.located),
    after ?? anySchema(located),
  )
}

function compareEmptiness(walk: OperationWalk, base: Parameter, head: Parameter): void {
  const { name, place, located } = head
  const [before, after] = [mayBeEmpty(base), mayBeEmpty(head)]
  if (before === after) return
  const facts = { name, place, action: after ? 'became' : 'ceased' } as const
  reportChanged(walk, `${walk.exchange.prefix}parameter-empty`, facts, { located, before, after })
}

/** Styles that cannot write an empty value, so `allowEmptyValue` is ignored (OpenAPI 3.1.1 §4.8.12.2). */
const NEVER_EMPTY: ReadonlySet<unknown> = new Set(['spaceDelimited', 'pipeDelimited', 'deepObject'])

/** Of other places than queries and forms the member is ignored. */
function mayBeEmpty({ place, value }: Parameter): boolean {
  if (place !== 'query' && place !== 'formData') return false
  return value.allowEmptyValue === true && !NEVER_EMPTY.has(value.style)
}

/** The fields of a form in a parameter, as in the whole query (OpenAPI 3.2.0 §4.12.1). */
function compareFields(walk: OperationWalk, base: Parameter, head: Parameter): void {
  const [before] = contentOf(walk.base, base.located)
  const [after] = contentOf(walk.head, head.located)
  if (before === undefined || after === undefined) return
  const { name, place, located } = head
  for (const change of fieldChanges(walk, before, after, walk.exchange.kind === 'operation' ? 'request' : 'response')) {
    const [from, to] = [change.before, change.after].map((text) => `field ${change.field} in ${text}`)
    reportChanged(walk, `${walk.exchange.prefix}parameter-style`, { name, place }, { located, before: from, after: to })
  }
}
