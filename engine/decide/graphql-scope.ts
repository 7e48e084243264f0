/**
 * Which findings of a GraphQL contract decide on one operation: those about what it touches, and those about what it leaves out
 * and would have to give now. Locations are those of docs/graphql.md.
 */

import type { FindingGroup } from '../finding.ts'

/** A set of places that an operation touches (`touchOf`), as findings are asked about it. */
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
    // What is counted without a place may be anywhere.
    if (root !== 'types') return true
    if (member === 'values') return isValue(places, owner, item, rule)
    if (member !== 'fields') return places.has(owner)
    const field = `${owner}/fields/${item}`
    if (part === 'arguments')
      return places.has(field) && (places.has(`${field}/arguments/${detail}`) || isMissed(finding))
    return places.has(field) || (places.has(owner) && isMissed(finding))
  }
}

/** What is sent decides on values that are refused, what is received on values that may come. */
function isValue(places: ReadonlySet<string>, owner: string, value: string, rule: string): boolean {
  const isSent = places.has(`${owner}/values/${value}`)
  const isReceived = places.has(`${owner}/values`)
  if (rule.startsWith('graphql-request-')) return isSent
  return rule.startsWith('graphql-response-') ? isReceived : isSent || isReceived
}

/** Rules about a value by which whoever does not give it is met. */
const MISSED =
  /^graphql-(?:(?:required|optional)-(?:argument|input-field|directive-argument)-added|(?:argument|input-field|directive-argument)-(?:became-required|default-value-\w+))$/

const RETYPED = /^graphql-(?:argument|input-field|directive-argument)-type-(?:narrowed|changed)$/

function isMissed({ rule, after }: Parameters<IsTouched>[0]): boolean {
  // A type that changed in more than one way may have come to be required among them.
  return MISSED.test(rule) || (RETYPED.test(rule) && typeof after === 'string' && after.endsWith('!'))
}
