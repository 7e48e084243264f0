/**
 * The findings of a GraphQL contract that decide on one operation: those about parts that it touches, and about inputs
 * that it omits and must now give. Locations are those of docs/graphql.md.
 */

import type { FindingGroup } from '../model/finding.ts'

/** The places that an operation touches (`touchOf`), as a test of findings. */
type IsTouched = (finding: Pick<FindingGroup, 'location' | 'rule' | 'after'>) => boolean

export function touchedPlaces(touches: readonly string[]): IsTouched {
  const places = new Set(touches)
  return (finding) => {
    const { location, rule } = finding
    const [, root, name = '', member, item = '', part, detail = ''] = location.split('/')
    const owner = `/${root}/${name}`
    if (root === 'schema') return name === '' || name === 'directives' || places.has(owner)
    if (root === 'directives') {
      const isGiven = member !== 'arguments' || places.has(`${owner}/arguments/${item}`)
      return places.has(owner) && (isGiven || isMissed(finding))
    }
    // A finding that is counted without a place may be at any place.
    if (root !== 'types') return true
    if (member === 'values') return isEnumValueUsed(places, owner, item, rule)
    if (member !== 'fields') return places.has(owner)
    const field = `${owner}/fields/${item}`
    if (part === 'arguments')
      return places.has(field) && (places.has(`${field}/arguments/${detail}`) || isMissed(finding))
    return places.has(field) || (places.has(owner) && isMissed(finding))
  }
}

/** For sent values, findings about refused values decide; for received values, findings about new ones. */
function isEnumValueUsed(places: ReadonlySet<string>, owner: string, value: string, rule: string): boolean {
  const isSent = places.has(`${owner}/values/${value}`)
  const isReceived = places.has(`${owner}/values`)
  if (rule.startsWith('graphql-request-')) return isSent
  return rule.startsWith('graphql-response-') ? isReceived : isSent || isReceived
}

/** Rules about a value that affect clients which omit it. */
const MISSED =
  /^graphql-(?:(?:required|optional)-(?:argument|input-field|directive-argument)-added|(?:argument|input-field|directive-argument)-(?:became-required|default-value-\w+))$/

const RETYPED = /^graphql-(?:argument|input-field|directive-argument)-type-(?:narrowed|changed)$/

function isMissed({ rule, after }: Parameters<IsTouched>[0]): boolean {
  // A type with several changes may also have become required.
  return MISSED.test(rule) || (RETYPED.test(rule) && typeof after === 'string' && after.endsWith('!'))
}
