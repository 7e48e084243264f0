/** Checks of routes by their protocol: sections of another protocol, and required sections that are missing. */
import type { ProtocolSettings } from '../protocols/common/protocol-settings.ts'
import type { RouteConfig } from '../protocols/route.ts'
import { PROTOCOLS } from '../protocols/settings.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import type { Config } from './schema.ts'
import { isJsonObject } from '../json/strict-json.ts'

const ROWS: readonly (readonly [name: string, row: ProtocolSettings])[] = Object.entries(PROTOCOLS)

/** The protocols of each section. Sections of every protocol are not listed. */
export const SECTION_PROTOCOLS: ReadonlyMap<string, readonly string[]> = new Map(
  ROWS.flatMap(([, { sections }]) => Object.keys(sections)).map((section) => [
    section,
    ROWS.filter(([, { sections }]) => Object.hasOwn(sections, section)).map(([name]) => name),
  ]),
)

/**
 * Sections of another protocol. A route whose protocol is missing or unknown has none: its protocol is the mistake.
 * @param value the configuration as written, whatever its form: defaults would add every section
 */
export function foreignSections(value: unknown): readonly LocatedMistake[] {
  const routes: unknown = isJsonObject(value) ? value['routes'] : undefined
  return (Array.isArray(routes) ? routes : []).flatMap((route: unknown, index) =>
    [...SECTION_PROTOCOLS].flatMap(([section, protocols]) => {
      if (!isJsonObject(route) || route[section] === undefined) return []
      const { protocol } = route
      if (typeof protocol !== 'string' || !Object.hasOwn(PROTOCOLS, protocol) || protocols.includes(protocol)) return []
      const what = `a route of the protocol ${protocol} has no section ${section}: it belongs to ${protocols.join(', ')}`
      return [
        { pointer: `/routes/${index}/${section}`, at: 'key', message: what, fix: 'remove it, or change protocol' },
      ]
    }),
  )
}

export function checkProtocols({ routes }: Config): readonly LocatedMistake[] {
  return routes.flatMap((route, index) => {
    const pointer = `/routes/${index}`
    const row = protocolRowOf(route)
    return [
      ...missingContract(route, row, pointer),
      ...unusedHeaders(route, row, pointer),
      ...validationMistakes(route, row, pointer),
      ...(row.mistakes?.(route, pointer) ?? []),
    ]
  })
}

export function protocolWarnings(route: RouteConfig, pointer: string): readonly LocatedMistake[] {
  return protocolRowOf(route).warnings?.(route, pointer) ?? []
}

function protocolRowOf({ protocol }: RouteConfig): ProtocolSettings {
  return PROTOCOLS[protocol]
}

function missingContract(route: RouteConfig, row: ProtocolSettings, pointer: string): readonly LocatedMistake[] {
  const { name, protocol, contract } = route
  if (row.currentContract === undefined || contract?.current !== undefined || row.asksUpstream?.(route) === true)
    return []
  const what = `the ${protocol} route "${name}" has no contract.current, so its calls could not be judged`
  return [mistakeAt(pointer, what, `name ${row.currentContract}`)]
}

/** Other protocols use a named contract, or the contract in the call. */
function unusedHeaders(route: RouteConfig, row: ProtocolSettings, pointer: string): readonly LocatedMistake[] {
  if (route.contract?.listing_headers === undefined || row.asksUpstream?.(route) === true) return []
  const what = 'the contract of this upstream is not polled'
  return [mistakeAt(`${pointer}/contract/listing_headers`, what, 'remove it')]
}

function validationMistakes(
  { validate, protocol }: RouteConfig,
  { validates }: ProtocolSettings,
  pointer: string,
): readonly LocatedMistake[] {
  if (validate === 'off' || validates === 'calls' || (validates === 'results' && validate === 'observe')) return []
  const place = `${pointer}/validate`
  return validates === 'results'
    ? [mistakeAt(place, 'the result of a tool is forwarded before it is read, so it cannot be refused', 'use observe')]
    : [mistakeAt(place, `calls of the protocol ${protocol} are not described by schemas`, 'remove it')]
}
