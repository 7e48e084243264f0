/** The tools of a manifest, matched by name: removed, renamed, added, or compared part by part. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import type { McpItem, McpItems } from '../../contracts/mcp-manifest.ts'
import { malformedMcpParts } from '../../contracts/mcp-parts.ts'
import { pointerOf } from '../../schema/located.ts'
import { compareToolAnnotations, compareExecution } from './annotations.ts'
import { findRenames, spellingKey } from './renames.ts'
import { addMalformed, NOTHING_MALFORMED, type McpWalk } from './walk.ts'
import { compareToolSchemas, reportMalformedSchemas } from './schemas.ts'
import { compareDescriptions } from './descriptions.ts'
import { findNewSigns } from './texts.ts'

/**
 * Compares the tools of both sides. Returns the number of compared schemas.
 * @param compareRest compares the members other than texts, schemas and hints
 */
export function compareTools(
  before: McpItems,
  after: McpItems,
  walk: McpWalk,
  compareRest: (before: McpItem, after: McpItem, walk: McpWalk) => void,
): number {
  const removed = toolsByName(before).filter(({ name }) => !after.has(name))
  const added = toolsByName(after).filter(({ name }) => !before.has(name))
  const renames = findRenames(removed, added)
  for (const tool of removed) reportRemovedTool(tool, renames.get(tool.name), walk.ofTool(tool.name))
  const alike = Map.groupBy(after.keys(), spellingKey)
  for (const tool of added) {
    reportAddedTool(tool, walk.ofTool(tool.name))
    reportSimilarName(tool, alike.get(spellingKey(tool.name)) ?? [], walk.ofTool(tool.name))
  }
  let examined = 0
  for (const tool of toolsByName(after)) {
    const base = before.get(tool.name)
    if (base === undefined) continue
    const own = walk.ofTool(tool.name)
    examined += compareTool(base, tool, own)
    compareRest(base, tool, own)
  }
  return examined
}

/** Sorted, because list order has no meaning: one change of many tools gets the same place each time. */
function toolsByName(items: McpItems): readonly McpItem[] {
  return [...items.values()].sort((a, b) => byCodeUnit(a.name, b.name))
}

function reportRemovedTool(tool: McpItem, successor: McpItem | undefined, walk: McpWalk): void {
  walk.add({
    rule: successor === undefined ? 'mcp-tool-removed' : 'mcp-tool-renamed',
    subject: tool.name,
    side: 'base',
    location: pointerOf(tool.at),
    name: tool.name,
    before: tool.name,
    after: successor?.name ?? null,
  })
}

function reportAddedTool(tool: McpItem, walk: McpWalk): void {
  const { name, at } = tool
  walk.add({
    rule: 'mcp-tool-added',
    subject: name,
    side: 'head',
    location: pointerOf(at),
    name,
    after: name,
  })
  findNewSigns(null, tool, 'tool', walk)
}

/** @param names those of the head that are spelled alike */
function reportSimilarName({ name, at }: McpItem, names: readonly string[], walk: McpWalk): void {
  const [other] = names.filter((one) => one !== name).toSorted(byCodeUnit)
  if (other === undefined || spellingKey(name) === '') return
  const place = { subject: name, side: 'head', location: pointerOf(at) } as const
  walk.add({ ...place, rule: 'mcp-tool-name-similar', name, detail: other, after: name })
}

function compareTool(before: McpItem, after: McpItem, walk: McpWalk): number {
  reportMalformedTool(before, after, walk)
  compareToolAnnotations(before, after, walk)
  compareExecution(before, after, walk)
  compareDescriptions(before, after, 'tool', walk)
  return compareToolSchemas(before, after, walk)
}

/** Malformed parts of a tool. Without `before`, of one that was added. */
export function reportMalformedTool(before: McpItem | null, after: McpItem, walk: McpWalk): void {
  const base = before === null ? NOTHING_MALFORMED : malformedMcpParts(before, 'tools')
  addMalformed(base, malformedMcpParts(after, 'tools'), '', walk)
  reportMalformedSchemas(before, after, walk)
}
