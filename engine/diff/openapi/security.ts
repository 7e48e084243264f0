/** The security requirements of each operation and of the whole interface, and the definitions of the schemes. */
import { itemsAt, objectAt } from '../../contracts/openapi/contract.ts'
import type { Operation as OperationName } from '../../model/finding.ts'
import { isRecord, type JsonRecord, type Located } from '../../schema/located.ts'
import { membersOf, textsOf } from '../../schema/subschemas.ts'
import { matchByKey, changedTexts } from '../match.ts'
import type { OpenApiFacts } from '../../rules/openapi/changes.ts'
import { flowsOf, kindOf, requirementLabel, schemesOf } from './security-schemes.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta-text.ts'
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
export function compareSecurity(walk: Walk, before: Located, after: Located, operation: OperationName | null): void {
  const [requirement, scope] =
    operation === null
      ? (['global-security', 'global-scope'] as const)
      : (['operation-security', 'operation-scope'] as const)
  const { added, removed, kept } = matchByKey(requirementsOf(before), requirementsOf(after), ({ schemes }) => schemes)
  for (const { label, located } of removed) {
    reportRemoved(walk, requirement, operation, located, label, { action: 'removed', name: label })
  }
  for (const { label, located } of added) {
    reportAdded(walk, requirement, operation, located, label, { action: 'added', name: label })
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
          reportChanged(walk, scope, operation, head.located, [before, after], { action, name, scope: text })
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
  const { added, removed, kept } = matchByKey(schemesOf(walk.base), schemesOf(walk.head), ([name]) => name)
  for (const [name, located] of removed) {
    reportRemoved(walk, 'component-scheme-removed', null, located, name, { name })
  }
  for (const [name, located] of added) {
    reportAdded(walk, 'component-scheme-added', null, located, name, { name })
  }
  for (const [[name, one], [, other]] of kept) {
    const base = objectAt(walk.base.documents, one)
    const head = objectAt(walk.head.documents, other)
    if (base !== null && head !== null) compareScheme(walk, name, base.value, head)
  }
}

type SchemePart = OpenApiFacts['component-scheme-changed']['part']

function compareScheme(
  walk: Walk,
  name: string,
  base: JsonRecord,
  located: Located & { readonly value: JsonRecord },
): void {
  const head = located.value
  const emit = (part: SchemePart, before: unknown, after: unknown): void => {
    if (before === after) return
    const facts = { name, part, before, after }
    reportChanged(walk, 'component-scheme-changed', null, located, [before, after], facts)
  }
  emit('type', kindOf(base), kindOf(head))
  if (base.type === 'openIdConnect' && head.type === 'openIdConnect')
    emit('openIdConnectUrl', base.openIdConnectUrl, head.openIdConnectUrl)
  if (base.type !== 'oauth2' || head.type !== 'oauth2') return
  emit('oauth2MetadataUrl', base.oauth2MetadataUrl, head.oauth2MetadataUrl)
  compareFlows(walk, name, base, located, emit)
}

/** Addresses of an OAuth flow, and the scheme part under which each is reported. */
const FLOW_ADDRESSES = [
  ['url', 'authorizationUrl'],
  ['tokenUrl', 'tokenUrl'],
  ['refreshUrl', 'refreshUrl'],
  ['deviceAuthorizationUrl', 'deviceAuthorizationUrl'],
] as const

function compareFlows(
  walk: Walk,
  name: string,
  base: JsonRecord,
  located: Located & { readonly value: JsonRecord },
  emit: (part: SchemePart, before: unknown, after: unknown) => void,
): void {
  const [baseFlows, headFlows] = [flowsOf(base), flowsOf(located.value)]
  const { added, removed } = changedTexts(Object.keys(baseFlows), Object.keys(headFlows))
  for (const flow of removed) {
    reportChanged(walk, 'component-scheme-flow', null, located, [flow, null], { name, flow, action: 'removed' })
  }
  for (const flow of added) {
    reportChanged(walk, 'component-scheme-flow', null, located, [null, flow], { name, flow, action: 'added' })
  }
  for (const flow of Object.keys(headFlows).filter((one) => Object.hasOwn(baseFlows, one))) {
    const [before, after] = [membersOf(baseFlows, flow), membersOf(headFlows, flow)]
    for (const [part, member] of FLOW_ADDRESSES) emit(part, before[member], after[member])
    compareScopes(walk, name, membersOf(before, 'scopes'), membersOf(after, 'scopes'), located)
  }
}

function compareScopes(walk: Walk, name: string, base: JsonRecord, head: JsonRecord, located: Located): void {
  for (const scope of new Set([...Object.keys(base), ...Object.keys(head)])) {
    const [before, after] = [base[scope] ?? null, head[scope] ?? null]
    if (before === after) continue
    const action = Object.hasOwn(base, scope) ? (Object.hasOwn(head, scope) ? 'changed' : 'removed') : 'added'
    const facts = { name, scope, action, before, after } as const
    reportChanged(walk, 'component-scope', null, located, [before, after], facts)
  }
}
