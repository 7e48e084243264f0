/**
 * The names of members in a server.json. Registries are written in Go, which takes `IsRequired` for `isRequired`, and older
 * ones write snake case. A member in another spelling, or in two, says one thing here and another to the registry.
 */
import { countingNames, otherSpelling } from '../../json/folded-names.ts'
import { isJsonObject, type JsonObject } from '../../json/strict-json.ts'
import { objectsIn, recordIn } from '../../json/unchecked-json.ts'
import { INPUTS, inputsOf } from './configuration.ts'

/** On which the comparison rests, in whatever place. */
const NAMES = countingNames(
  [
    'server name version status packages remotes tools _meta',
    'registryType registry_type registry_name registryBaseUrl registry_base_url identifier',
    'transport transport_type type url variables value default choices format',
    'valueHint value_hint isRequired is_required isSecret is_secret',
    ...INPUTS.map(([, members]) => members.join(' ')),
  ].flatMap((names) => names.split(' ')),
)

/** @param body of a publication, with or without a member `server`. Null: each name has one spelling */
export function doubtfulMember(body: JsonObject): string | null {
  for (const object of objectsOf(body)) {
    const member = otherSpelling(object, NAMES) ?? secondSpelling(object)
    if (member !== null) return member
  }
  return null
}

/** The objects whose members have fixed names; those of variables and of `_meta` are the publisher's own. */
function objectsOf(body: JsonObject): readonly JsonObject[] {
  const server = isJsonObject(body['server']) ? body['server'] : body
  const packages = objectsIn(server['packages'])
  const holders = [
    ...packages,
    ...packages.map(({ transport }) => recordIn(transport)),
    ...objectsIn(server['remotes']),
  ]
  const inputs = holders.flatMap((holder) =>
    INPUTS.flatMap(([, members]) => members.flatMap((member) => inputsOf(holder[member]))),
  )
  return [body, server, ...holders, ...inputs, ...inputs.flatMap(({ variables }) => inputsOf(variables))]
}

/** `isRequired` beside `is_required`: registries of different age read either. */
function secondSpelling(object: JsonObject): string | null {
  const seen = new Set<string>()
  for (const name of Object.keys(object)) {
    const plain = name.replaceAll('_', '').toLowerCase()
    if (NAMES.exact.has(name) && seen.has(plain)) return name
    seen.add(plain)
  }
  return null
}
