/** Checks of routes by their protocol: sections of another protocol or without effect, and required ones that are missing. */
import { CONTRACT_MEMBERS, type ProtocolSettings } from '../protocols/common/protocol-settings.ts'
import type { RouteConfig } from '../protocols/route.ts'
import { PROTOCOLS } from '../protocols/settings.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import type { Config } from './schema.ts'
import { isJsonObject, type JsonObject } from '../json/strict-json.ts'

type ProtocolRow = readonly [name: string, row: ProtocolSettings]

const ROWS: readonly ProtocolRow[] = Object.entries(PROTOCOLS)

/** The protocols of each section. Sections of every protocol are not listed. */
export const SECTION_PROTOCOLS: ReadonlyMap<string, readonly string[]> = new Map([
  ...ROWS.flatMap(([, { sections }]) => Object.keys(sections)).map(
    (section) => [section, protocolsWhere(({ sections }) => Object.hasOwn(sections, section))] as const,
  ),
  ['contract', protocolsWhere(({ contractMembers }) => contractMembers !== undefined)],
])

function protocolsWhere(isMeant: (row: ProtocolSettings) => boolean): readonly string[] {
  return ROWS.filter(([, row]) => isMeant(row)).map(([name]) => name)
}

/**
 * Sections of another protocol, and members of `contract` that its protocol does not use. A route whose protocol is missing or
 * unknown has none: its protocol is the mistake.
 * @param value the configuration as written, whatever its form: defaults would add every section
 */
export function foreignSections(value: unknown): readonly LocatedMistake[] {
  const routes: unknown = isJsonObject(value) ? value['routes'] : undefined
  return (Array.isArray(routes) ? routes : []).flatMap((route: unknown, index) => {
    const protocol = isJsonObject(route) ? ROWS.find(([name]) => name === route['protocol']) : undefined
    if (!isJsonObject(route) || protocol === undefined) return []
    const pointer = `/routes/${index}`
    return [...sectionsOfOthers(route, protocol, pointer), ...unusedContractMembers(route, protocol, pointer)]
  })
}

const REMEDY = { at: 'key', fix: 'remove it, or change protocol' } as const

function sectionsOfOthers(route: JsonObject, [name]: ProtocolRow, pointer: string): readonly LocatedMistake[] {
  return [...SECTION_PROTOCOLS]
    .filter(([section, protocols]) => route[section] !== undefined && !protocols.includes(name))
    .map(([section, protocols]) => {
      const message = `a route of the protocol ${name} has no section ${section}: it belongs to ${protocols.join(', ')}`
      return { pointer: `${pointer}/${section}`, message, ...REMEDY }
    })
}

function unusedContractMembers(
  { contract }: JsonObject,
  [name, { contractMembers: used }]: ProtocolRow,
  pointer: string,
): readonly LocatedMistake[] {
  if (!isJsonObject(contract) || used === undefined) return []
  return CONTRACT_MEMBERS.filter((member) => contract[member] !== undefined && !used.includes(member)).map((member) => {
    const message = `contract.${member} has no effect on a route of the protocol ${name}, which uses ${used.join(', ')}`
    return { pointer: `${pointer}/contract/${member}`, message, ...REMEDY }
  })
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
