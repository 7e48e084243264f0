/** The tools of a manifest, matched by name: removed, renamed, added, or compared part by part. */
import { byCodeUnit } from '../../change-set.ts'
import type { McpItem, McpItems } from '../../contracts/mcp-manifest.ts'
import { pointerOf } from '../../schema/located.ts'
import { compareAnnotations, compareExecution } from './annotations.ts'
import { findRenames } from './renames.ts'
import type { McpReport } from './report.ts'
import { compareToolSchemas } from './schemas.ts'
import { compareTexts, findNewSigns } from './texts.ts'

/**
 * Compares the tools of both sides. Returns the number of compared schemas.
 * @param compareRest compares the members other than texts, schemas and hints
 */
export function compareTools(
  before: McpItems,
  after: McpItems,
  report: McpReport,
  compareRest: (before: McpItem, after: McpItem) => void,
): number {
  const removed = inOrder(before).filter(({ name }) => !after.has(name))
  const added = inOrder(after).filter(({ name }) => !before.has(name))
  const renames = findRenames(removed, added)
  for (const tool of removed) reportRemoved(tool, renames.get(tool.name), report)
  for (const tool of added) reportAdded(tool, report)
  let examined = 0
  for (const tool of inOrder(after)) {
    const base = before.get(tool.name)
    if (base === undefined) continue
    examined += compareTool(base, tool, report)
    compareRest(base, tool)
  }
  return examined
}

/** Sorted, because list order has no meaning: one change of many tools gets the same place each time. */
function inOrder(items: McpItems): readonly McpItem[] {
  return [...items.values()].sort((a, b) => byCodeUnit(a.name, b.name))
}

function reportRemoved(tool: McpItem, successor: McpItem | undefined, report: McpReport): void {
  report.add({
    rule: successor === undefined ? 'mcp-tool-removed' : 'mcp-tool-renamed',
    tool: tool.name,
    subject: tool.name,
    side: 'base',
    location: pointerOf(tool.at),
    name: tool.name,
    before: tool.name,
    after: successor?.name ?? null,
  })
}

function reportAdded(tool: McpItem, report: McpReport): void {
  const { name, at } = tool
  report.add({
    rule: 'mcp-tool-added',
    tool: name,
    subject: name,
    side: 'head',
    location: pointerOf(at),
    name,
    after: name,
  })
  findNewSigns(null, tool, name, 'tool', report)
}

function compareTool(before: McpItem, after: McpItem, report: McpReport): number {
  compareAnnotations(before, after, report)
  compareExecution(before, after, report)
  compareTexts(before, after, after.name, 'tool', report)
  return compareToolSchemas(before, after, report)
}
