/** Parameters of one operation: its own and those of its path, matched by place and name. */
import { effectiveParameters, parametersOf, type Parameter } from '../../contracts/openapi/contract.ts'
import { contentOf, schemaOfParameter } from '../../contracts/openapi/payloads.ts'
import type { Operation as OperationName } from '../../finding.ts'
import { dayOf, judgeLifecycle, judgeRemoval } from '../../rules/lifecycle.ts'
import { matchByKey, matchRest, type Matched } from '../match.ts'
import type { MessageExchange } from './exchange.ts'
import type { OperationSide } from './operation.ts'
import { tellAdded, tellChanged, tellRemoved } from './delta-text.ts'
import type { OpenApiChange, OpenApiFacts } from './changes.ts'
import type { Walk } from './walk.ts'
import { anySchema, styleOf, writingChange } from './serialization.ts'

export function compareParameters(
  walk: Walk,
  before: OperationSide,
  after: OperationSide,
  operation: OperationName,
  exchange: MessageExchange,
): void {
  const base = effectiveParameters(walk.base, before.item, before.operation)
  const head = effectiveParameters(walk.head, after.item, after.operation)
  if (base.length === 0 && head.length === 0) return
  const own = new Set(parametersOf(walk.head, after.operation.located).map(keyOf))
  const { added, removed, kept } = matchParameters(base, head, before.item.path, after.item.path)
  for (const parameter of removed) tellRemovedParameter(walk, parameter, operation, exchange)
  for (const parameter of added) {
    const { name, place, isRequired, located } = parameter
    const facts = { name, place, isRequired, isInherited: !own.has(keyOf(parameter)) }
    tellAdded(walk, `${exchange.prefix}parameter-added`, operation, located, name, facts)
  }
  tellMovedParameters(walk, kept, operation, exchange)
  for (const [before, after] of kept) compareParameter(walk, before, after, operation, exchange)
}

function keyOf({ place, name }: Parameter): string {
  return `${place} ${name}`
}

/**
 * Path parameters by their position in the path, which is all that a call shows of them; others by name; names of header
 * fields in any case. Positions count from the end, since a prefix may have been stripped.
 */
function matchParameters(
  base: readonly Parameter[],
  head: readonly Parameter[],
  oldPath: string,
  nowPath: string,
): Matched<Parameter> {
  const positions = new Map([...positionsOf(base, oldPath), ...positionsOf(head, nowPath)])
  const placed = (parameter: Parameter): string => positions.get(parameter) ?? keyOf(parameter)
  const byHeader = (parameter: Parameter): string =>
    parameter.place === 'header' ? keyOf(parameter).toLowerCase() : keyOf(parameter)
  return matchRest(matchRest(matchByKey(base, head, placed), keyOf), byHeader)
}

function positionsOf(parameters: readonly Parameter[], path: string): readonly (readonly [Parameter, string])[] {
  const names = namesIn(path)
  return parameters.flatMap((parameter) => {
    const index = parameter.place === 'path' ? names.lastIndexOf(parameter.name) : -1
    return index === -1 ? [] : [[parameter, `path #${names.length - index}`] as const]
  })
}

function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
}

/** Names that changed places: whoever fills them in by name, in the path that it knows, names something else now. */
function tellMovedParameters(
  walk: Walk,
  kept: Matched<Parameter>['kept'],
  operation: OperationName,
  { prefix }: MessageExchange,
): void {
  const moved = kept.filter(([before, after]) => before.place === 'path' && before.name !== after.name)
  const before = new Set(moved.map(([before]) => before.name))
  for (const [was, { name, place, located }] of moved) {
    if (!before.has(name)) continue
    const facts = { name, place, before: was.name, after: name }
    tellChanged(walk, `${prefix}parameter-moved`, operation, located, [was.name, name], facts)
  }
}

function tellRemovedParameter(
  walk: Walk,
  { name, place, located, isRequired, lifecycle }: Parameter,
  operation: OperationName,
  { prefix }: MessageExchange,
): void {
  const { sunset } = lifecycle
  const removal = judgeRemoval(lifecycle, walk.options)
  // As of operations: what was announced with a day that is past is no news.
  if (removal === 'after-sunset') return
  const facts = { name, place, isRequired, removal, sunset: dayOf(sunset) ?? sunset }
  tellRemoved(walk, `${prefix}parameter-removed`, operation, located, name, facts)
}

function compareParameter(
  walk: Walk,
  base: Parameter,
  head: Parameter,
  operation: OperationName,
  { prefix, lead, parameterAt }: MessageExchange,
): void {
  if (base.value === head.value) return
  const { name, place, located } = head
  const of = { name, place }
  const tell = <Change extends OpenApiChange>(
    change: Change,
    facts: OpenApiFacts[Change],
    before: unknown,
    after: unknown,
  ): void => tellChanged(walk, change, operation, located, [before, after], facts)
  if (base.isRequired !== head.isRequired) {
    tell(
      `${prefix}parameter-requiredness`,
      { ...of, action: head.isRequired ? 'became' : 'ceased' },
      base.isRequired,
      head.isRequired,
    )
  }
  const [wasEmpty, isEmpty] = [base.value.allowEmptyValue === true, head.value.allowEmptyValue === true]
  if (wasEmpty !== isEmpty)
    tell(`${prefix}parameter-empty`, { ...of, action: isEmpty ? 'became' : 'ceased' }, wasEmpty, isEmpty)
  const verdict = judgeLifecycle(base.lifecycle, head.lifecycle, walk.options)
  if (verdict !== null && prefix === '')
    tell('parameter-lifecycle', { ...of, ...verdict }, base.lifecycle.sunset, head.lifecycle.sunset)
  const writing = writingChange(walk, base, head)
  if (writing !== null) tell(`${prefix}parameter-${writing.of}`, of, writing.before, writing.after)
  if (writing?.isOtherKind === true) return
  const before = schemaOfParameter(walk.base, base)
  const after = schemaOfParameter(walk.head, head)
  if (before === null && after === null) return
  // Repeated in the query, a list of one is written as the scalar was.
  const isStyle = styleOf(head)
  const repeats = isStyle.name === 'form' && isStyle.isExploded
  walk.use(
    {
      sites: parameterAt(place),
      mediaType: contentOf(walk.head, located)[0]?.name ?? null,
      operation,
      where: `${lead}${place} parameter ${name}`,
      parameter: { name, isRequired: base.isRequired || head.isRequired, repeats },
    },
    before ?? anySchema(base.located),
    after ?? anySchema(located),
  )
}
