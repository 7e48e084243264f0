/**
 * The offer of an MCP server as the text of a contract. It is built from observed answers, combined with a baseline that may
 * cover less or more, and parsed for its names. The engine compares two texts.
 */
import { LRUCache } from 'lru-cache'
import { byCodeUnit } from '../../../engine/base.ts'
import { contractDigest, type BaselineText, type OfferedContract } from '../../baselines/baselines.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { jsonOrNull, textIn } from '../../json/unchecked-json.ts'
import { withWrittenNumbers } from '../../json/written-numbers.ts'

/** The lists of a server: how each is asked for, under which capability, and which member of its items names one. */
export const LISTS = {
  tools: { method: 'tools/list', capability: 'tools', key: 'name' },
  prompts: { method: 'prompts/list', capability: 'prompts', key: 'name' },
  resources: { method: 'resources/list', capability: 'resources', key: 'uri' },
  resourceTemplates: { method: 'resources/templates/list', capability: 'resources', key: 'uriTemplate' },
} as const

export type ManifestListName = keyof typeof LISTS
export const LIST_NAMES = [
  'tools',
  'prompts',
  'resources',
  'resourceTemplates',
] as const satisfies readonly ManifestListName[]

/** What a server says of itself, in the answer to `initialize` or `server/discover`. */
export interface SessionFacts {
  readonly capabilities: Readonly<Record<string, unknown>>
  /** Null: it gives none. */
  readonly instructions: string | null
}

/** What is known of a server. A list that is absent is not known, which is not to say that it is empty. */
interface ServerFacts {
  readonly session: SessionFacts | null
  readonly lists: Readonly<Partial<Record<ManifestListName, readonly unknown[]>>>
}

/** The lists that a server with these capabilities has. */
export function promisedLists({ capabilities }: SessionFacts): readonly ManifestListName[] {
  return LIST_NAMES.filter((list) => isJsonObject(capabilities[LISTS[list].capability]))
}

/** Members of a manifest, each as it stands in the text. */
type ManifestMembers = Readonly<Record<string, unknown>>

/** Negotiated with each client or meant for people: the baseline's value is taken as unchanged. */
const UNWATCHED = ['protocolVersion', 'serverInfo'] as const
/** A text with one of these records the whole server: what it leaves out is not offered (engine/contracts/mcp-manifest.ts). */
const WHOLE = ['capabilities', ...UNWATCHED] as const

/**
 * The text of a manifest, the same for the same offer in whatever order or pages it was sent. The server's description
 * of itself is part of it once all lists that it promises are known. A text with capabilities states that a list it
 * lacks is empty.
 */
export function manifestContract({ session, lists }: ServerFacts): OfferedContract {
  const isWhole = session !== null && promisedLists(session).every((list) => lists[list] !== undefined)
  const parts: ManifestMembers = {
    ...(isWhole && { capabilities: session.capabilities }),
    ...(isWhole && session.instructions !== null && { instructions: session.instructions }),
    ...sortedLists(lists),
  }
  const content = JSON.stringify(parts)
  let last: { readonly digest: string; readonly contract: OfferedContract } | null = null
  const own: OfferedContract = {
    type: 'mcp_manifest',
    content,
    digest: contractDigest(content),
    against(baseline) {
      if (last?.digest !== baseline.digest)
        last = { digest: baseline.digest, contract: setBeside(parts, own, baseline) }
      return last.contract
    },
    completing: (baseline) => completed(parts, baseline),
  }
  return own
}

function sortedLists(lists: ManifestMembers): ManifestMembers {
  return Object.fromEntries(
    LIST_NAMES.flatMap((list) => {
      const items = lists[list]
      return Array.isArray(items)
        ? [[list, items.toSorted((a, b) => byCodeUnit(itemName(list, a), itemName(list, b)))]]
        : []
    }),
  )
}

function itemName(list: ManifestListName, item: unknown): string {
  const name = isJsonObject(item) ? item[LISTS[list].key] : null
  return textIn(name) ?? ''
}

/**
 * The part of the offer that the baseline covers. Parts of the offer that are not known are taken as pinned, since
 * nothing shows that they changed.
 */
function setBeside(own: ManifestMembers, contract: OfferedContract, baseline: BaselineText): OfferedContract {
  const kept = manifestParts(baseline).written
  if (kept === null) return contract
  const pinned: ManifestMembers = { ...pickedFrom(kept), ...sortedLists(kept) }
  const speaksOfAll = isWholeManifest(pinned)
  const source = (part: string): ManifestMembers => (isKnownPart(own, part) ? own : pinned)
  const parts = Object.fromEntries(
    [...WHOLE, 'instructions', ...LIST_NAMES].flatMap((part) => {
      if (!speaksOfAll && !Object.hasOwn(pinned, part)) return []
      const value = source(part)[part]
      return value === undefined ? [] : [[part, value]]
    }),
  )
  const content = JSON.stringify(parts)
  if (content === JSON.stringify(pinned))
    return { type: contract.type, content: baseline.content, digest: contractDigest(baseline.content) }
  return { type: contract.type, content, digest: contractDigest(content) }
}

function pickedFrom(parts: ManifestMembers): ManifestMembers {
  return Object.fromEntries(
    [...WHOLE, 'instructions'].flatMap((part) => (parts[part] === undefined ? [] : [[part, parts[part]]])),
  )
}

/** Whether the offer states a part: it contains it, or it is complete and has none. */
function isKnownPart(own: ManifestMembers, part: string): boolean {
  return Object.hasOwn(own, part) || (isWholeManifest(own) && !UNWATCHED.some((name) => name === part))
}

function isWholeManifest(parts: ManifestMembers): boolean {
  return WHOLE.some((part) => Object.hasOwn(parts, part))
}

/** The baseline with the parts that it does not contain yet, seen for the first time now; null: there are none. */
function completed(own: ManifestMembers, baseline: BaselineText): BaselineText | null {
  const pinned = manifestParts(baseline).written
  if (pinned === null || isWholeManifest(pinned)) return null
  const added = Object.keys(own).filter((part) => !Object.hasOwn(pinned, part))
  if (added.length === 0) return null
  const content = JSON.stringify({ ...pickedFrom(own), ...sortedLists({ ...own, ...pinned }) })
  return { content, digest: contractDigest(content) }
}

interface ManifestParts {
  /** Null: the text is none of the JSON forms (YAML, say). */
  readonly parts: ManifestMembers | null
  /** The same, in which long numbers keep their digits when they are written again. */
  readonly written: ManifestMembers | null
}

const partsByDigest = new LRUCache<string, ManifestParts>({ max: 256 })

/** The members of a manifest that matter, in any of the JSON forms it is kept in. */
function manifestParts({ content, digest }: BaselineText): ManifestParts {
  const known = partsByDigest.get(digest)
  if (known !== undefined) return known
  const value = jsonOrNull(content)
  const parts = { parts: membersIn(value), written: membersIn(withWrittenNumbers(content, value)) }
  partsByDigest.set(digest, parts)
  return parts
}

function membersIn(value: unknown): ManifestMembers | null {
  if (Array.isArray(value)) return { tools: value }
  if (!isJsonObject(value)) return null
  const { result } = value
  return isJsonObject(result) && !Object.hasOwn(value, 'tools') ? result : value
}

const namesByDigest = new LRUCache<string, Partial<Record<ManifestListName, ReadonlySet<string>>>>({ max: 256 })

/** Names in a list of a manifest; a text that is none has none, so that nothing is taken as covered. */
export function itemNames(list: ManifestListName, contract: BaselineText): ReadonlySet<string> {
  const known = namesByDigest.get(contract.digest) ?? {}
  if (known[list] !== undefined) return known[list]
  const items = manifestParts(contract).parts?.[list]
  const names = new Set(Array.isArray(items) ? items.map((item) => itemName(list, item)) : [])
  namesByDigest.set(contract.digest, Object.assign(known, { [list]: names }))
  return names
}

/** The item of a list by its name; null when there is none. */
export function itemIn(
  list: ManifestListName,
  name: string,
  contract: BaselineText,
): Readonly<Record<string, unknown>> | null {
  const items: unknown = manifestParts(contract).parts?.[list]
  const values: readonly unknown[] = Array.isArray(items) ? items : []
  const item = values.find((value) => itemName(list, value) === name)
  return isJsonObject(item) ? item : null
}
