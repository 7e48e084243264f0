/**
 * What the configuration needs to know of the protocol `mapped`: its rules, and the handling of requests that none
 * matches.
 */
import { Type } from '../../../engine/base.ts'
import { mistakeAt } from '../../settings/mistake-collector.ts'
import type { LocatedMistake } from '../../settings/schema-mistakes.ts'
import type { ProtocolSettings, RouteWith } from '../common/protocol-settings.ts'
import { RequestMap } from './request-map.ts'
import { compileRules } from './rules.ts'

const Otherwise = Type.Optional(
  Type.Union([Type.Literal('pass'), Type.Literal('deny')], {
    description:
      'protocol mapped: requests that no rule matches. Default: GET, HEAD and OPTIONS pass, all others are denied.',
  }),
)

const sections = { map: Type.Optional(RequestMap), otherwise: Otherwise }
export type MappedRoute = RouteWith<typeof sections>

export const mappedSettings = {
  sections,
  contractMembers: ['origins'],
  namesAddresses: true,
  mistakes: mapMistakes,
} satisfies ProtocolSettings<typeof sections>

function mapMistakes({ map, name }: MappedRoute, pointer: string): readonly LocatedMistake[] {
  if (map === undefined)
    return [
      mistakeAt(
        pointer,
        `the mapped route "${name}" has no rules, so nothing states what its requests mean`,
        'add map: [{ when: …, action: … }]',
      ),
    ]
  const compiled = compileRules(map)
  return compiled.ok
    ? []
    : compiled.problem.map(({ pointer: within, message, fix }) => mistakeAt(`${pointer}/map${within}`, message, fix))
}
