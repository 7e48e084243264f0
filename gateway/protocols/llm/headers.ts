/**
 * Header fields that decide which tools a model has. Gateways to model providers read settings from those of the request.
 * A hosted tool has some of its own, by which its server chooses what it offers.
 */
import { sha256Hex } from '../../runtime/hash.ts'
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'
import { mayChooseOffer } from '../common/offer-key.ts'
import type { CallHead } from '../../calls/call.ts'
import type { BodyPart } from './body-parts.ts'
import type { StoredTools } from './stored-tools.ts'

interface HeaderRow {
  /** In lower case, with hyphens. */
  readonly name: RegExp
  /** `tools`: it chooses among tools that the server has. `settings`: JSON that may hold tools, or the name of such. */
  readonly holds: 'tools' | 'settings'
  readonly because: string
}

/** Request headers, by the documentation of each gateway. */
const HEADERS: readonly HeaderRow[] = [
  { name: /^x-mcp-/, holds: 'tools', because: 'LiteLLM, and servers like that of GitHub: MCP servers and toolsets' },
  { name: /^x-bf-mcp-/, holds: 'tools', because: 'Bifrost: MCP clients and tools' },
  { name: /^x-tfy-mcp-headers$/, holds: 'tools', because: 'TrueFoundry: fields for MCP servers' },
  { name: /^x-dashscope-plugin$/, holds: 'tools', because: 'DashScope: plugins' },
  { name: /^groq-model-version$/, holds: 'tools', because: 'Groq: which tools a compound system has' },
  { name: /^x-portkey-config$/, holds: 'settings', because: 'a stored configuration may set tools (override_params)' },
  { name: /^helicone-fallbacks$/, holds: 'settings', because: 'a fallback may have another body' },
  {
    name: /^x-data-(?:keywordsai|respan)-params$/,
    holds: 'settings',
    because: 'parameters of the gateway may name a stored prompt',
  },
]

interface HeaderTools {
  /** As if they were in the body. */
  readonly parts: readonly BodyPart[]
  readonly stored: readonly StoredTools[]
}

/** @param ownHeader names the agent of the call, so it is not a setting; absent: none does */
export function headerTools({ headers }: Pick<CallHead, 'headers'>, ownHeader: string | undefined): HeaderTools {
  const parts: BodyPart[] = []
  const stored: StoredTools[] = []
  for (const [field, value] of Object.entries(headers)) {
    // LiteLLM sends `x-pass-NAME` on as `NAME`.
    const name = canonicalField(field).replace(/^x-pass-/, '')
    const row = HEADERS.find((one) => one.name.test(name))
    if (row === undefined || value === undefined || canonicalField(ownHeader ?? '') === canonicalField(field)) continue
    const text = [value].flat().join(', ').trim()
    if (row.holds === 'tools') {
      const chosen = countedFields({ [name]: text })
      if (text !== '' && chosen !== null) parts.push({ tools: [{ type: 'header', fields: chosen }] })
      continue
    }
    const settings = settingsIn(text)
    if (settings !== null) parts.push(...objectsIn(settings, 0))
    else if (text !== '') stored.push({ name: `${name}:${nameOf(text)}`, because: row.because })
  }
  return { parts, stored }
}

/**
 * The fields by which a server may choose its tools, with digests of their values, since a field with another name may
 * hold a secret. Null: there are none.
 */
export function countedFields(fields: unknown): Readonly<Record<string, string>> | null {
  if (!isJsonObject(fields)) return null
  const counted = Object.entries(fields).flatMap(([field, value]) => {
    const name = canonicalField(field)
    if (!mayChooseOffer(name) || CREDENTIAL.test(name)) return []
    return [[name, sha256Hex(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 16)] as const]
  })
  return counted.length === 0 ? null : Object.fromEntries(counted)
}

const CREDENTIAL = /auth|token|secret|passw|credential|cookie|session|signature|api-?key|(?:^|-)key(?:-|$)/

/** Servers differ in whether they take an underscore for a hyphen. */
function canonicalField(name: string): string {
  return name.trim().toLowerCase().replaceAll('_', '-')
}

/** A value that is JSON, or JSON in base64; null: it is a name. */
function settingsIn(text: string): unknown {
  for (const bytes of [Buffer.from(text), Buffer.from(text, 'base64')]) {
    const json = readStrictJson(bytes)
    if (json.ok && typeof json.value === 'object') return json.value
  }
  return null
}

const MAX_DEPTH = 12

/** Settings nest requests in many ways, so each object counts as one. */
function objectsIn(value: unknown, depth: number): readonly BodyPart[] {
  if (depth > MAX_DEPTH) return [{ tools: 'nested too deep' }]
  if (Array.isArray(value)) return value.flatMap((item) => objectsIn(item, depth + 1))
  if (!isJsonObject(value)) return []
  return [value, ...Object.values(value).flatMap((held) => objectsIn(held, depth + 1))]
}

const SHORT_NAME = /^[\w.@/-]{1,64}$/

/** As a receipt can hold it: a longer text may contain a secret, too. */
function nameOf(text: string): string {
  return SHORT_NAME.test(text) ? text : `sha256-${sha256Hex(text).slice(0, 32)}`
}
