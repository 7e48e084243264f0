/** Parameters of one operation: its own and those of its path, matched by place and name. */
import { effectiveParameters, parametersOf, type Parameter } from '../../contracts/openapi/contract.ts'
import { contentOf, schemaOfParameter } from '../../contracts/openapi/payloads.ts'
import type { Operation as OperationName } from '../../finding.ts'
import { dayOf, judgeLifecycle, judgeRemoval } from '../../rules/lifecycle.ts'
import { REQUEST_HEADER_PARAMETER, REQUEST_PARAMETER } from '../../rules/sites.ts'
import { isRecord, type JsonRecord } from '../../schema/located.ts'
import { typesOf } from '../../schema/types.ts'
import { matchByKey, matchRest, type Matched } from '../match.ts'
import type { OperationSide } from './operation.ts'
import { tellAdded, tellChanged, tellRemoved } from './telling.ts'
import type { ContractDelta, Walk } from './walk.ts'

export function compareParameters(
  walk: Walk,
  before: OperationSide,
  after: OperationSide,
  operation: OperationName,
): void {
  const old = effectiveParameters(walk.base, before.item, before.operation)
  const now = effectiveParameters(walk.head, after.item, after.operation)
  if (old.length === 0 && now.length === 0) return
  const own = new Set(parametersOf(walk.head, after.operation.located).map(keyOf))
  const { added, removed, kept } = matchParameters(old, now, before.item.path, after.item.path)
  for (const parameter of removed) tellRemovedParameter(walk, parameter, operation)
  for (const parameter of added) {
    const { name, place, isRequired, located } = parameter
    const facts = { name, place, isRequired, isInherited: !own.has(keyOf(parameter)) }
    tellAdded(walk, 'parameter-added', operation, located, name, facts)
  }
  for (const [was, is] of kept) compareParameter(walk, was, is, operation)
}

function keyOf({ place, name }: Parameter): string {
  return `${place} ${name}`
}

/** By name; header names in any case; path parameters at last by their position in the path. */
function matchParameters(
  old: readonly Parameter[],
  now: readonly Parameter[],
  oldPath: string,
  nowPath: string,
): Matched<Parameter> {
  const byName = matchByKey(old, now, keyOf)
  const byHeader = matchRest(byName, (parameter) =>
    parameter.place === 'header' ? keyOf(parameter).toLowerCase() : keyOf(parameter),
  )
  const positions = new Map(
    [...namesIn(oldPath).entries(), ...namesIn(nowPath).entries()].map(([index, name]) => [name, index]),
  )
  return matchRest(byHeader, (parameter) =>
    parameter.place === 'path' ? `path #${positions.get(parameter.name) ?? parameter.name}` : keyOf(parameter),
  )
}

function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
}

function tellRemovedParameter(
  walk: Walk,
  { name, place, located, lifecycle }: Parameter,
  operation: OperationName,
): void {
  const { sunset } = lifecycle
  const removal = judgeRemoval(lifecycle, walk.options)
  // As of operations: what was announced with a day that is past is no news.
  if (removal === 'after-sunset') return
  const facts = { name, place, removal, sunset: dayOf(sunset) ?? sunset }
  tellRemoved(walk, 'parameter-removed', operation, located, name, facts)
}

type Tell = (change: ContractDelta['change'], facts: JsonRecord, before: unknown, after: unknown) => void

/** How values are written: in a style, or as a text of some media type. True when one went over to the other. */
function compareWriting(walk: Walk, old: Parameter, now: Parameter, tell: Tell): boolean {
  const [before, after] = [contentOf(walk.base, old.located)[0]?.name, contentOf(walk.head, now.located)[0]?.name]
  if (before !== after) {
    tell('parameter-content', {}, before ?? 'plain values', after ?? 'plain values')
    return before === undefined || after === undefined
  }
  const [was, is] = [styleOf(old), styleOf(now)]
  const isPlain = was.isScalar || is.isScalar
  const isSame = was.name === is.name && (isPlain || was.isExploded === is.isExploded)
  if (!isSame) tell('parameter-style', {}, nameStyle(was), nameStyle(is))
  return false
}

function compareParameter(walk: Walk, old: Parameter, now: Parameter, operation: OperationName): void {
  if (old.value === now.value) return
  const { name, place, located } = now
  const tell: Tell = (change, facts, before, after) =>
    tellChanged(walk, change, operation, located, [before, after], { ...facts, name, place, before, after })
  if (old.isRequired !== now.isRequired) {
    tell('parameter-requiredness', { action: now.isRequired ? 'became' : 'ceased' }, old.isRequired, now.isRequired)
  }
  const [wasEmpty, isEmpty] = [old.value.allowEmptyValue === true, now.value.allowEmptyValue === true]
  if (wasEmpty !== isEmpty) tell('parameter-empty', { action: isEmpty ? 'became' : 'ceased' }, wasEmpty, isEmpty)
  const verdict = judgeLifecycle(old.lifecycle, now.lifecycle, walk.options)
  if (verdict !== null) tell('parameter-lifecycle', { ...verdict }, old.lifecycle.sunset, now.lifecycle.sunset)
  // A schema of plain values and one of a text have nothing to be compared by.
  if (compareWriting(walk, old, now, tell)) return
  const before = schemaOfParameter(walk.base, old)
  const after = schemaOfParameter(walk.head, now)
  if (before === null || after === null) return
  // Repeated in the query, a list of one is written as the scalar was.
  const isStyle = styleOf(now)
  const repeats = isStyle.name === 'form' && isStyle.isExploded
  const sites = place === 'header' ? REQUEST_HEADER_PARAMETER : REQUEST_PARAMETER
  walk.use(
    {
      sites,
      mediaType: contentOf(walk.head, located)[0]?.name ?? null,
      operation,
      where: `${place} parameter ${name}`,
      parameter: { name, isRequired: old.isRequired || now.isRequired, repeats },
    },
    before,
    after,
  )
}

/** How the values of a parameter are written. */
interface Style {
  readonly name: string
  readonly isExploded: boolean
  /** Scalars are written the same whether exploded or not. */
  readonly isScalar: boolean
}

/** OpenAPI's defaults: `form` in queries and cookies, `simple` elsewhere, exploded when `form`. */
function styleOf({ place, value }: Parameter): Style {
  const schema = isRecord(value.schema) ? value.schema : value
  const types = typesOf(schema)
  const isScalar = types.length > 0 && types.every((type) => type !== 'array' && type !== 'object')
  const fallback = place === 'query' || place === 'cookie' ? 'form' : 'simple'
  if (value.content !== undefined) return { name: 'content', isExploded: false, isScalar }
  if (value.schema === undefined && value.type !== undefined) return { ...swaggerStyle(value, fallback), isScalar }
  const style = typeof value.style === 'string' ? value.style : fallback
  const isExploded = typeof value.explode === 'boolean' ? value.explode : style === 'form'
  const reserved = value.allowReserved === true ? ', reserved characters as they are' : ''
  return { name: `${style}${reserved}`, isExploded, isScalar }
}

/** Swagger 2.0 names the same styles by how they separate items. */
function swaggerStyle({ type, collectionFormat }: JsonRecord, fallback: string): Pick<Style, 'name' | 'isExploded'> {
  if (type !== 'array') return { name: fallback, isExploded: fallback === 'form' }
  if (collectionFormat === 'multi') return { name: 'form', isExploded: true }
  if (collectionFormat === 'ssv') return { name: 'spaceDelimited', isExploded: false }
  if (collectionFormat === 'pipes') return { name: 'pipeDelimited', isExploded: false }
  return { name: fallback, isExploded: false }
}

function nameStyle({ name, isExploded }: Style): string {
  return isExploded ? `${name}, exploded` : name
}
