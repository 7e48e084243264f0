/**
 * Who may call: the `securitySchemes` of a tool, of which one suffices, and the authorization that a server states.
 * MCP leaves authorization to HTTP; manifests carry it in these members.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { McpItem } from '../../contracts/mcp-manifest.ts'
import { composePointer } from '../../contracts/pointer.ts'
import type { McpRuleId } from '../../rules/mcp/rows.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, pointerOf, type JsonRecord } from '../../schema/located.ts'
import type { McpWalk } from './walk.ts'

export const SECURITY_SCHEMES = 'securitySchemes'

/** Members of a session or resource that name what a caller needs. */
export const AUTHORIZATION_MEMBERS: ReadonlySet<string> = new Set([
  'auth',
  'authentication',
  'authorization',
  'security',
  SECURITY_SCHEMES,
])

/** One security alternative: a caller needs all of its scopes. */
interface AcceptedScheme {
  /** The scheme without its scopes, in canonical form. */
  readonly scheme: JsonRecord
  readonly scopes: readonly string[]
}

const ANYBODY: AcceptedScheme = { scheme: { type: 'noauth' }, scopes: [] }

export function compareToolSecurity(before: McpItem, after: McpItem, walk: McpWalk): void {
  const [base, head] = [acceptedSchemes(before), acceptedSchemes(after)]
  const isRefused = base.some((way) => !head.some((other) => isAdmittedBy(other, way)))
  const isOpened = head.some((way) => !base.some((other) => isAdmittedBy(other, way)))
  if (!isRefused && !isOpened) return
  const rule: McpRuleId = isRefused ? 'mcp-tool-security-tightened' : 'mcp-tool-security-loosened'
  const path = schemesPath(after) ?? schemesPath(before) ?? [SECURITY_SCHEMES]
  const side = schemesPath(after) === null ? 'base' : 'head'
  walk.add({
    rule,
    subject: path.join('/'),
    side,
    location: `${pointerOf((side === 'base' ? before : after).at)}${composePointer(path)}`,
    name: SECURITY_SCHEMES,
    before: requirementsText(base),
    after: requirementsText(head),
  })
}

/** Whether every caller that `way` admits is admitted by `one`. */
function isAdmittedBy(one: AcceptedScheme, way: AcceptedScheme): boolean {
  if (isEqual(one.scheme, ANYBODY.scheme)) return true
  return isEqual(one.scheme, way.scheme) && one.scopes.every((scope) => way.scopes.includes(scope))
}

/** Without the member nothing is required. */
function acceptedSchemes(tool: McpItem): readonly AcceptedScheme[] {
  const path = schemesPath(tool)
  const list = path === null ? null : valueAt(tool.value, path)
  return Array.isArray(list) && list.length > 0 ? list.map(acceptedScheme) : [ANYBODY]
}

function acceptedScheme(scheme: unknown): AcceptedScheme {
  if (!isRecord(scheme)) return { scheme: { type: scheme }, scopes: [] }
  const { scopes, ...rest } = scheme
  const texts = Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : []
  return { scheme: rest, scopes: texts.toSorted(byCodeUnit) }
}

function requirementsText(ways: readonly AcceptedScheme[]): string {
  const words = ways.map(({ scheme, scopes }) => {
    const type = typeof scheme['type'] === 'string' ? scheme['type'] : 'a scheme'
    return scopes.length === 0 ? type : `${type} (${scopes.join(', ')})`
  })
  return words.toSorted(byCodeUnit).join(' or ')
}

/** The metadata repeats the member for clients that read it only there. */
function schemesPath({ value }: McpItem): readonly string[] | null {
  const paths = [[SECURITY_SCHEMES], ['_meta', SECURITY_SCHEMES]]
  return paths.find((path) => Array.isArray(valueAt(value, path))) ?? null
}

/** The rule for a change of the session's authorization. Stating it for the first time may refuse callers. */
export function authorizationRule(before: unknown, after: unknown): McpRuleId {
  if (before === null) return 'mcp-authorization-added'
  return after === null ? 'mcp-authorization-removed' : 'mcp-authorization-changed'
}

/** The value under the path; null if there is none. */
export function valueAt(root: JsonRecord, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isRecord(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null),
    root,
  )
}
