/** Parts of the whole interface: security, components, webhooks, servers, and the stated version. */
import { membersAt, pathItemsOf, type PathItem } from '../../contracts/openapi/contract.ts'
import { malformedOpenApiParts } from '../../contracts/openapi/parts.ts'
import { isRecord, memberOf, placeAt, pointerOf, stepInto, type Located } from '../../schema/located.ts'
import { compareSemanticVersions, parseSemanticVersion } from '../../common/semantic-version.ts'
import { resolvePointer } from '../../contracts/pointer.ts'
import { isValueMember } from '../../contracts/schema-drafts.ts'
import { compareMalformed } from '../malformed-parts.ts'
import { keysOfBoth, matchByKey } from '../match.ts'
import type { Sides } from '../sides.ts'
import { EXCHANGES } from './exchange.ts'
import type { PathEntry } from './path-templates.ts'
import { comparePathItems, comparePaths } from './paths.ts'
import { compareSchemes, compareSecurity } from './security.ts'
import { compareInterfaceServers, prefixMovedBetween } from './servers.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import type { Walk } from './walk.ts'

export function compareInterface(walk: Walk, paths: Sides<readonly PathItem[]>): void {
  const moved = prefixMovedBetween(walk, paths)
  comparePaths(walk, paths, moved)
  compareWebhooks(walk)
  compareSecurity(walk, walk.base.root, walk.head.root)
  compareSchemes(walk)
  compareComponents(walk)
  compareInterfaceServers(walk, paths, moved)
  compareDialects(walk)
  compareMalformedParts(walk)
}

function compareMalformedParts(walk: Walk): void {
  const isMoved = walk.base.documents.dialect !== walk.head.documents.dialect
  const malformedIn = ({ documents, malformed }: Walk['base']): Walk['base']['malformed'] =>
    isMoved ? malformedOpenApiParts(documents, isMoved) : malformed
  compareMalformed(malformedIn(walk.base), malformedIn(walk.head), ({ place, form, ...change }) => {
    const facts = { name: place, form, isAdded: isWithinAdded(place, walk.added) }
    walk.add({ ...change, change: 'malformed-part', facts, operation: null })
  })
}

function isWithinAdded(place: string, added: ReadonlySet<string>): boolean {
  for (let end = place.lastIndexOf('/'); end > 0; end = place.lastIndexOf('/', end - 1)) {
    if (added.has(place.slice(0, end))) return true
  }
  return false
}

/** The dialect of OpenAPI (any edition) is 2020-12 and its own annotations (OpenAPI 3.1.0 §4.8.24.1). */
const OWN_DIALECT =
  /^https:\/\/(?:spec\.openapis\.org\/oas\/3\.\d\/dialect\/.*|json-schema\.org\/draft\/2020-12\/schema#?)$/

/** The language of schemas, or of one. Keywords are left out that it does not have. It may read the others in another way. */
function compareDialects(walk: Walk): void {
  if (!isStated(walk.base) || !isStated(walk.head)) return
  const [base, head] = [dialectsIn(walk.base), dialectsIn(walk.head)]
  const reported = new Set<string>()
  for (const pointer of keysOfBoth(base.keys(), head.keys())) {
    const [before, after] = [base, head].map((dialects) => dialects.get(pointer) ?? dialects.get('') ?? '')
    const target = resolvePointer(walk.head.root.value, pointer)
    const isOnBoth = target.found && resolvePointer(walk.base.root.value, pointer).found
    const change = JSON.stringify([before, after])
    // What comes or goes as a whole is no change of language. One finding names each change.
    if (before === after || !isOnBoth || reported.has(change)) continue
    reported.add(change)
    const stated = memberOf(walk.head.root, 'jsonSchemaDialect') ?? walk.head.root
    const located = pointer === '' ? stated : { ...walk.head.root, value: target.value, at: placeAt(pointer) }
    reportChanged(walk, 'schema-dialect', { name: pointer, before, after }, { located, before, after })
  }
}

/** The languages that a contract and its schemas state, by pointer. That of the contract has the empty one. */
function dialectsIn(contract: Walk['base']): ReadonlyMap<string, string> {
  const { root, statesDialects } = contract
  const found = new Map([['', dialectAt({ root })]])
  if (statesDialects !== true) return found
  const open: Located[] = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, at, document } = next
    if (typeof value !== 'object' || value === null) continue
    const stated = isRecord(value) ? value['$schema'] : undefined
    if (typeof stated === 'string' && at.parent !== null) found.set(pointerOf(at), dialectNamed(stated))
    for (const [name, member] of Object.entries<unknown>({ ...value }))
      if (!isValueMember(name, at.step) && !name.startsWith('x-'))
        open.push({ value: member, at: stepInto(at, name), document })
  }
  return found
}

function isStated({ documents }: Walk['base']): boolean {
  return (
    documents.dialect === 'json-schema' &&
    isRecord(documents.root.value) &&
    documents.root.value['openapi'] !== undefined
  )
}

function dialectAt({ root }: Pick<Walk['base'], 'root'>): string {
  const stated = memberOf(root, 'jsonSchemaDialect')?.value
  return typeof stated === 'string' ? dialectNamed(stated) : OWN
}

const OWN = 'that of OpenAPI'

function dialectNamed(stated: string): string {
  return OWN_DIALECT.test(stated) ? OWN : stated
}

/** Whether schemas are written in the language of the contract's version, and in no other one that it states. */
export function isInOwnDialect(contract: Pick<Walk['base'], 'root'>): boolean {
  return dialectAt(contract) === OWN
}

function compareWebhooks(walk: Walk): void {
  const { added, removed, kept } = matchByKey(
    pathItemsOf(walk.base, 'webhooks'),
    pathItemsOf(walk.head, 'webhooks'),
    ({ path }) => path,
  )
  for (const { path, located } of removed) {
    reportRemoved(walk, 'webhook-removed', { name: path }, { located, before: path })
  }
  for (const { path, located } of added) {
    walk.added.add(pointerOf(located.at, located.document))
    reportAdded(walk, 'webhook-added', { name: path }, { located, after: path })
  }
  for (const [base, head] of kept) comparePathItems(walk, webhookEntry(base), webhookEntry(head), EXCHANGES.webhook)
}

function webhookEntry(item: PathItem): PathEntry {
  const key = `webhook:${item.path}`
  return { key, address: key, item }
}

function compareComponents(walk: Walk): void {
  const { removed } = matchByKey(schemasOf(walk.base), schemasOf(walk.head), ([name]) => name)
  for (const [name, located] of removed) {
    reportRemoved(walk, 'component-schema-removed', { name }, { located, before: name })
  }
}

function schemasOf({ root, isSwagger }: Walk['base']): readonly (readonly [string, Located])[] {
  if (isSwagger) return membersAt(root, 'definitions')
  const components = memberOf(root, 'components')
  return components === null ? [] : membersAt(components, 'schemas')
}

type VersionStep = 'same' | 'decreased' | 'minor'

/**
 * How the stated version changed, if a breaking change should have raised its major number. Null if it did, or has no
 * order.
 */
export function versionStepOf(before: string | null, after: string | null): VersionStep | null {
  const base = before === null ? null : parseSemanticVersion(before)
  const head = after === null ? null : parseSemanticVersion(after)
  if (base === null || head === null) return null
  const order = compareSemanticVersions(base, head)
  if (order === 0) return 'same'
  if (order > 0) return 'decreased'
  if (head.numbers[0] > base.numbers[0]) return null
  // SemVer §4: before 1.0.0 anything may change, and a raised minor number announces it.
  return base.numbers[0] === 0 && head.numbers[1] > base.numbers[1] ? null : 'minor'
}
