/** Prompts, resources and resource templates of a manifest, matched by name or address. */
import type { McpItem, McpItems, McpList } from '../../contracts/mcp-manifest.ts'
import { malformedMcpParts } from '../../contracts/mcp-parts.ts'
import type { McpRuleId } from '../../rules/mcp/rows.ts'
import { isRecord, memberOf, pointerOf, stepInto, type JsonRecord, type Located } from '../../schema/located.ts'
import { isSameMediaType } from '../openapi/media-types.ts'
import { compareOfferMembers, compareOthers } from './members.ts'
import { addMalformed, NOTHING_MALFORMED, type McpWalk } from './walk.ts'
import { compareDescriptions } from './descriptions.ts'
import { findNewSigns } from './texts.ts'
import { keysOfBoth } from '../match.ts'
import { rewrittenTemplates } from './templates.ts'

interface OfferKind {
  readonly list: Exclude<McpList, 'tools'>
  readonly noun: string
  readonly removed: McpRuleId
  readonly added: McpRuleId
  /** The comparison of the remaining members. */
  readonly compare: (before: McpItem, after: McpItem, walk: McpWalk) => void
}

export const OFFER_KINDS: readonly OfferKind[] = [
  {
    list: 'prompts',
    noun: 'prompt',
    removed: 'mcp-prompt-removed',
    added: 'mcp-prompt-added',
    compare: comparePromptArguments,
  },
  {
    list: 'resources',
    noun: 'resource',
    removed: 'mcp-resource-removed',
    added: 'mcp-resource-added',
    compare: compareMediaType,
  },
  {
    list: 'resourceTemplates',
    noun: 'resource template',
    removed: 'mcp-resource-template-removed',
    added: 'mcp-resource-template-added',
    compare: compareMediaType,
  },
]

const NOTHING_REWRITTEN: ReadonlyMap<string, McpItem> = new Map()

export function compareOffers(kind: OfferKind, before: McpItems, after: McpItems, whole: McpWalk): void {
  const rewritten = kind.list === 'resourceTemplates' ? rewrittenTemplates(before, after) : NOTHING_REWRITTEN
  const matched = new Set([...rewritten.values()].map(({ name }) => name))
  for (const name of keysOfBoth(before.keys(), after.keys())) {
    if (matched.has(name)) continue
    const base = before.get(name) ?? rewritten.get(name)
    const head = after.get(name)
    const subject = `${kind.list}/${name}`
    const walk = whole.ofOffer({ list: kind.list, name })
    if (base !== undefined && head !== undefined) {
      const [before, after] = [malformedMcpParts(base, kind.list), malformedMcpParts(head, kind.list)]
      addMalformed(before, after, `${subject} `, walk)
      if (base.name !== head.name) {
        const place = { subject, side: 'head', location: pointerOf(head.at) } as const
        walk.add({ ...place, rule: 'mcp-resource-template-rewritten', name, before: base.name, after: name })
      }
      kind.compare(base, head, walk)
      compareOfferMembers(base, head, subject, walk)
      compareDescriptions(base, head, `${kind.noun} ${name}`, walk)
    } else if (base !== undefined) {
      const place = { subject, side: 'base', location: pointerOf(base.at) } as const
      walk.add({ ...place, rule: kind.removed, name, before: name })
    } else if (head !== undefined) {
      const place = { subject, side: 'head', location: pointerOf(head.at) } as const
      walk.add({ ...place, rule: kind.added, name, after: name })
      addMalformed(NOTHING_MALFORMED, malformedMcpParts(head, kind.list), `${subject} `, walk)
      findNewSigns(null, head, `${kind.noun} ${name}`, walk)
    }
  }
}

interface PromptArgument extends Located {
  readonly value: JsonRecord
  readonly isRequired: boolean
}

function comparePromptArguments(before: McpItem, after: McpItem, walk: McpWalk): void {
  const [baseArguments, headArguments] = [promptArguments(before), promptArguments(after)]
  for (const name of keysOfBoth(baseArguments.keys(), headArguments.keys())) {
    const [base, head] = [baseArguments.get(name), headArguments.get(name)]
    if (base !== undefined && head !== undefined)
      compareArgumentMembers(base, head, `prompts/${after.name}/${name}/`, walk)
    const rule = judgeArgument(base, head)
    const there = head ?? base
    if (rule === null || there === undefined) continue
    walk.add({
      rule,
      subject: `prompts/${after.name}/${name}`,
      side: head === undefined ? 'base' : 'head',
      location: pointerOf(there.at),
      name,
      detail: after.name,
      before: base === undefined ? null : { required: base.isRequired },
      after: head === undefined ? null : { required: head.isRequired },
    })
  }
}

const OF_ARGUMENTS: ReadonlySet<string> = new Set(['name', 'title', 'description', 'required'])

function compareArgumentMembers(before: PromptArgument, after: PromptArgument, subject: string, walk: McpWalk): void {
  const holder = { before, after, subject, walk }
  compareOthers(holder, [], 'mcp-member-changed', (name) => OF_ARGUMENTS.has(name))
}

function judgeArgument(before: PromptArgument | undefined, after: PromptArgument | undefined): McpRuleId | null {
  if (after === undefined) return 'mcp-prompt-argument-removed'
  if (after.isRequired) return before?.isRequired === true ? null : 'mcp-prompt-argument-required'
  return before?.isRequired === false ? null : 'mcp-prompt-argument-optional'
}

function promptArguments(prompt: McpItem): ReadonlyMap<string, PromptArgument> {
  const found = new Map<string, PromptArgument>()
  const list = memberOf(prompt, 'arguments')
  const values: readonly unknown[] = Array.isArray(list?.value) ? list.value : []
  for (const [index, value] of values.entries()) {
    if (list === null || !isRecord(value) || typeof value['name'] !== 'string') continue
    const at = stepInto(list.at, String(index))
    found.set(value['name'], { value, at, document: '', isRequired: value['required'] === true })
  }
  return found
}

function compareMediaType(before: McpItem, after: McpItem, walk: McpWalk): void {
  const base = before.value['mimeType'] ?? null
  const head = after.value['mimeType'] ?? null
  // Adding it takes nothing from clients.
  if (base === null || base === head) return
  if (typeof base === 'string' && typeof head === 'string' && isSameMediaType(base, head)) return
  walk.add({
    rule: 'mcp-resource-media-type-changed',
    subject: `resources/${after.name}/mimeType`,
    name: after.name,
    side: head === null ? 'base' : 'head',
    location: `${pointerOf(head === null ? before.at : after.at)}/mimeType`,
    before: base,
    after: head,
  })
}
