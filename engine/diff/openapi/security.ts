/** The security requirements of each operation and of the whole interface, and the definitions of the schemes. */
import { itemsAt, objectAt } from '../../contracts/openapi/contract.ts'
import { isRecord, type JsonRecord, type Located } from '../../schema/located.ts'
import { membersOf, textsOf } from '../../schema/subschemas.ts'
import { matchByKey, changedTexts } from '../match.ts'
import type { OpenApiFacts } from '../../rules/openapi/changes.ts'
import { flowsOf, schemeKind, requirementLabel, securitySchemesOf } from './security-schemes.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import type { Walk } from './walk.ts'

/** One alternative: schemes that are required together, each with its scopes. */
interface Requirement {
  /** The sorted names of its schemes: the key for matching. */
  readonly schemes: string
  readonly label: string
  readonly scopes: JsonRecord
  readonly located: Located
}

/** The requirements of an operation, or of the whole interface without one. */
export function compareSecurity(walk: Walk, before: Located, after: Located): void {
  const [requirement, scope] =
    walk.operation === null
      ? (['global-security', 'global-scope'] as const)
      : (['operation-security', 'operation-scope'] as const)
  const { added, removed, kept } = matchByKey(requirementsOf(before), requirementsOf(after), ({ schemes }) => schemes)
  for (const { label, located } of removed) {
    reportRemoved(walk, requirement, { action: 'removed', name: label }, { located, before: label })
  }
  for (const { label, located } of added) {
    reportAdded(walk, requirement, { action: 'added', name: label }, { located, after: label })
  }
  for (const [base, head] of kept) {
    for (const name of Object.keys(head.scopes)) {
      const scopes = changedTexts(textsOf(base.scopes[name]), textsOf(head.scopes[name]))
      for (const [action, list] of [
        ['added', scopes.added],
        ['removed', scopes.removed],
      ] as const) {
        for (const text of list) {
          const [before, after] = action === 'added' ? [null, text] : [text, null]
          reportChanged(walk, scope, { action, name, scope: text }, { located: head.located, before, after })
        }
      }
    }
  }
}

function requirementsOf(owner: Located): readonly Requirement[] {
  return itemsAt(owner, 'security').flatMap((located) => {
    if (!isRecord(located.value)) return []
    const scopes = located.value
    return [{ schemes: Object.keys(scopes).sort().join(' '), label: requirementLabel(scopes), scopes, located }]
  })
}

/** The definitions of security schemes. */
export function compareSchemes(walk: Walk): void {
  const { added, removed, kept } = matchByKey(
    securitySchemesOf(walk.base),
    securitySchemesOf(walk.head),
    ([name]) => name,
  )
  for (const [name, located] of removed) {
    reportRemoved(walk, 'component-scheme-removed', { name }, { located, before: name })
  }
  for (const [name, located] of added) {
    reportAdded(walk, 'component-scheme-added', { name }, { located, after: name })
  }
  for (const [[name, one], [, other]] of kept) {
    const base = objectAt(walk.base.documents, one)
    const head = objectAt(walk.head.documents, other)
    if (base !== null && head !== null) compareScheme(walk, { name, base: base.value, head: head.value, located: head })
  }
}

type SchemePart = OpenApiFacts['component-scheme-changed']['part']

/** @property located in the head */
interface SchemePair {
  readonly name: string
  readonly base: JsonRecord
  readonly head: JsonRecord
  readonly located: Located
}

type ReportPart = (part: SchemePart, before: unknown, after: unknown) => void

function compareScheme(walk: Walk, scheme: SchemePair): void {
  const { name, base, head, located } = scheme
  const reportPart: ReportPart = (part, before, after) => {
    if (before === after) return
    const facts = { name, part, before, after }
    reportChanged(walk, 'component-scheme-changed', facts, { located, before, after })
  }
  const [before, after] = [base, head].map((side) => (side.type === undefined ? null : schemeKind(side)))
  reportPart('type', before, after)
  if (base.type === 'openIdConnect' && head.type === 'openIdConnect')
    reportPart('openIdConnectUrl', base.openIdConnectUrl, head.openIdConnectUrl)
  if (base.type !== 'oauth2' || head.type !== 'oauth2') return
  reportPart('oauth2MetadataUrl', base.oauth2MetadataUrl, head.oauth2MetadataUrl)
  compareFlows(walk, scheme, reportPart)
}

/** Addresses of an OAuth flow, and the scheme part under which each is reported. */
const FLOW_ADDRESSES = [
  ['url', 'authorizationUrl'],
  ['tokenUrl', 'tokenUrl'],
  ['refreshUrl', 'refreshUrl'],
  ['deviceAuthorizationUrl', 'deviceAuthorizationUrl'],
] as const

function compareFlows(walk: Walk, scheme: SchemePair, reportPart: ReportPart): void {
  const { name, base, head, located } = scheme
  const [baseFlows, headFlows] = [flowsOf(base), flowsOf(head)]
  const { added, removed } = changedTexts(Object.keys(baseFlows), Object.keys(headFlows))
  for (const flow of removed) {
    reportChanged(
      walk,
      'component-scheme-flow',
      { name, flow, action: 'removed' },
      { located, before: flow, after: null },
    )
  }
  for (const flow of added) {
    reportChanged(
      walk,
      'component-scheme-flow',
      { name, flow, action: 'added' },
      { located, before: null, after: flow },
    )
  }
  for (const flow of Object.keys(headFlows).filter((one) => Object.hasOwn(baseFlows, one))) {
    const [before, after] = [membersOf(baseFlows, flow), membersOf(headFlows, flow)]
    for (const [part, member] of FLOW_ADDRESSES) reportPart(part, before[member], after[member])
    compareScopes(walk, scheme, membersOf(before, 'scopes'), membersOf(after, 'scopes'))
  }
}

function compareScopes(walk: Walk, { name, located }: SchemePair, base: JsonRecord, head: JsonRecord): void {
  for (const scope of new Set([...Object.keys(base), ...Object.keys(head)])) {
    const [before, after] = [base[scope] ?? null, head[scope] ?? null]
    if (before === after) continue
    const action = Object.hasOwn(base, scope) ? (Object.hasOwn(head, scope) ? 'changed' : 'removed') : 'added'
    const facts = { name, scope, action, before, after } as const
    reportChanged(walk, 'component-scope', facts, { located, before, after })
  }
}
