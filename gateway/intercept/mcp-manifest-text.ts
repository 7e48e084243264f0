/** A tool manifest as text: made from the tools a server lists, and read again for the names in it. */
import { LRUCache } from 'lru-cache'
import { byCodeUnit } from '../../engine/index.ts'
import { contractDigest, type OfferedContract } from '../baselines/baselines.ts'
import { isJsonObject } from './strict-json.ts'

/** The text of a whole manifest, the same for the same tools in whatever order or pages they came. */
export function manifestContract(tools: readonly unknown[]): OfferedContract {
  const byName = [...tools].sort((a, b) => byCodeUnit(nameIn(a), nameIn(b)))
  const content = JSON.stringify({ tools: byName })
  return { type: 'mcp_manifest', content, digest: contractDigest(content) }
}

function nameIn(tool: unknown): string {
  return isJsonObject(tool) && typeof tool['name'] === 'string' ? tool['name'] : ''
}

const namesByDigest = new LRUCache<string, ReadonlySet<string>>({ max: 512 })

/** Names of the tools in a manifest; a text that is none has none, so that nothing is taken as covered. */
export function toolNames(contract: { readonly content: string; readonly digest: string }): ReadonlySet<string> {
  const known = namesByDigest.get(contract.digest)
  if (known !== undefined) return known
  const names = new Set<string>()
  for (const tool of toolsIn(contract.content)) {
    if (isJsonObject(tool) && typeof tool['name'] === 'string') names.add(tool['name'])
  }
  namesByDigest.set(contract.digest, names)
  return names
}

function toolsIn(content: string): readonly unknown[] {
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch {
    // Not JSON (a YAML baseline, say): no name is known, so the call counts as not covered by this side.
    return []
  }
  if (Array.isArray(value)) return value
  const result = isJsonObject(value) && isJsonObject(value['result']) ? value['result'] : value
  return isJsonObject(result) && Array.isArray(result['tools']) ? result['tools'] : []
}
