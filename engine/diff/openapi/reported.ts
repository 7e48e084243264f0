/** The operation, place and part of a change of an OpenAPI contract, for the report. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { Operation } from '../../model/finding.ts'
import type { Report } from '../../rules/judging/report.ts'
import type { SchemaComparison } from '../../schema/comparison/comparison.ts'
import type { LifecycleOptions } from '../../schema/lifecycle.ts'
import type { OpenApiChange } from '../../rules/openapi/changes.ts'
import { pointerOf } from '../../schema/located.ts'
import { nameValue } from '../../schema/values.ts'
import { otherElement } from '../../schema/xml.ts'
import type { ContractDelta, SchemaUseSite } from './walk.ts'

type OpenApiReport = Report<{ readonly change: OpenApiChange }>

/** Reports a change outside of schemas. */
export function reportDelta(delta: ContractDelta, report: OpenApiReport, note: string | null): void {
  const { change, operation, side, located, before, after, further } = delta
  // The names of facts are checked by the compiler. One without a value is absent in its contract.
  const facts = Object.fromEntries(
    Object.entries<unknown>({ ...delta.facts }).map(([name, fact]) => [name, fact ?? null]),
  )
  const endpoint = endpointOf(operation)
  report.add({
    change,
    facts,
    ...(note !== null && { note }),
    side,
    before,
    after,
    subject: delta.subject ?? deltaKey(delta, facts),
    location: pointerOf(located.at, located.document),
    places: (message) => [{ operation, tool: null, message, detail: message }],
    touches: () => ({
      endpoint,
      param: change.startsWith('parameter')
        ? `${endpoint ?? ''} ${nameValue(facts['place'])} ${nameValue(facts['name'])}`
        : null,
    }),
    ...(further !== undefined && {
      further: {
        places: further.places,
        endpoints: () => Iterator.from(further.endpoints()).map((one) => ({ path: endpointOf(one) ?? '' })),
      },
    }),
  })
}

const NO_FIELDS: ReadonlyMap<string, string> = new Map()

/** Reports the schemas in use, place by place: uses at one place follow each other. */
export function reportUses(
  uses: readonly SchemaUseSite[],
  lifecycle: LifecycleOptions,
  schemas: SchemaComparison,
  report: OpenApiReport,
): void {
  let last = ''
  // Of most uses nothing is reported.
  const changed = uses.filter(
    ({ pair, mediaType }) =>
      schemas.mayDiffer(pair) || otherElement(pair, { mediaType, isNamedByComponent: true }, schemas.sources) !== null,
  )
  for (const use of changed.sort(byPlace)) {
    const { operation, where } = use
    const place = `${endpointOf(operation) ?? ''} ${where}`
    if (place !== last) report.leavePlace()
    last = place
    reportUse(use, lifecycle, schemas, report)
  }
}

function reportUse(
  use: SchemaUseSite,
  lifecycle: LifecycleOptions,
  schemas: SchemaComparison,
  report: OpenApiReport,
): void {
  const { pair, sites, mediaType, fieldTypes = NO_FIELDS, parameter, operation, where, stability } = use
  const endpoint = endpointOf(operation)
  const param = parameter === null ? null : `${endpoint ?? ''} ${where}`
  report.addUse(
    {
      pair,
      use: {
        sites,
        mediaType,
        fieldTypes,
        parameter,
        lifecycle: { ...lifecycle, impliedStability: stability },
        isNamedByComponent: true,
      },
      placeOf: ({ reached: { path, delta }, message }) => ({
        operation,
        tool: null,
        message: `${message} (${where})`,
        detail: `${where} ${path.join('/')} ${delta.name ?? ''}`,
      }),
      touches: ({ reached: { path, delta } }) =>
        param === null
          ? { endpoint, field: `${where} ${[...path, delta.property ? (delta.name ?? '') : ''].join('/')}` }
          : { endpoint, param },
    },
    schemas,
  )
}

/** The order of paths in a document has no meaning, so findings have an order of their own. */
function byPlace(a: SchemaUseSite, b: SchemaUseSite): number {
  return (
    byCodeUnit(a.operation?.path ?? '', b.operation?.path ?? '') ||
    byCodeUnit(a.operation?.method ?? '', b.operation?.method ?? '') ||
    byCodeUnit(a.where, b.where)
  )
}

function endpointOf(operation: Operation | null): string | null {
  return operation && `${operation.method} ${operation.path}`
}

/** One part of one operation, by names that do not depend on order. */
function deltaKey({ change, operation }: ContractDelta, facts: Readonly<Record<string, unknown>>): string {
  const names = [facts['status'], facts['place'], facts['name'], facts['scope']]
  return [operation?.method, operation?.path, change, ...names].map((name) => nameValue(name ?? '')).join(' ')
}
