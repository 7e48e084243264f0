/** Compares two texts of an MCP manifest into finding groups. An empty side is a server that offers nothing. */
import type { CompareOptions, FormatComparison } from '../../model/format.ts'
import { readDocument } from '../../contracts/document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../model/limits.ts'
import { readMcpManifest, type McpItems, type McpManifest } from '../../contracts/mcp-manifest.ts'
import { sortedReferences } from '../../contracts/unresolved.ts'
import type { Sha256 } from '../../common/hash.ts'
import { ok, type Result } from '../../common/result.ts'
import { Report } from '../../rules/judging/report.ts'
import { MCP_RULES } from '../../rules/mcp/rows.ts'
import { judgeById } from '../../rules/row.ts'
import { ROOT } from '../../schema/located.ts'
import { readSides } from '../sides.ts'
import { compareToolMembers } from './members.ts'
import { compareOffers, OFFER_KINDS } from './offers.ts'
import { mcpWalk, type McpReport, type McpWalk } from './walk.ts'
import { unresolvedOfTools } from './schemas.ts'
import { compareSession } from './session.ts'
import { compareTools, reportMalformedTool } from './tools.ts'

const NO_ITEMS: McpItems = new Map()

/** The manifest of a server that does not exist. */
const NOTHING: McpManifest = {
  lists: { tools: NO_ITEMS, prompts: NO_ITEMS, resources: NO_ITEMS, resourceTemplates: NO_ITEMS },
  session: { value: {}, at: ROOT, document: '' },
  isWhole: false,
  results: 'object',
  protocolVersion: null,
  locate: () => null,
}

/** Compares two manifests in any form that `readMcpManifest` takes. */
export function compareMcpManifests(
  before: string,
  after: string,
  options: CompareOptions,
  sha256: Sha256,
): Result<FormatComparison> {
  const sides = readSides(before, after, (text) => readManifest(text, options))
  if (!sides.ok) return sides
  const { base, head } = sides.value
  const locate = { base: base.locate, head: head.locate }
  const report: McpReport = new Report({ ...judgeById(MCP_RULES), levels: options.levels, sha256, locate })
  const walk = mcpWalk(report, { tools: new Set(head.lists.tools?.keys()), results: head.results })
  const examined = compareLists(base, head, walk)
  compareSession(base, head, walk)
  return ok({
    groups: report.finish(),
    stats: {
      operations: { base: base.lists.tools?.size ?? 0, head: head.lists.tools?.size ?? 0 },
      schemas_compared: examined,
      touched: report.touched,
    },
    spec_versions: { base: base.protocolVersion, head: head.protocolVersion },
    unresolved: sortedReferences([
      ...unresolvedOfTools('base', base.lists.tools),
      ...unresolvedOfTools('head', head.lists.tools),
    ]),
  })
}

function readManifest(text: string, options: CompareOptions): Result<McpManifest> {
  if (text === '') return ok(NOTHING)
  const document = readDocument(text, options.limits ?? DEFAULT_DOCUMENT_LIMITS)
  return document.ok ? readMcpManifest(document.value) : document
}

function compareLists(base: McpManifest, head: McpManifest, walk: McpWalk): number {
  const tools = comparable('tools', base, head)
  const examined = tools === null ? 0 : compareTools(tools.before, tools.after, walk, compareToolMembers)
  if (base !== NOTHING) {
    // Clients refuse a whole list for one malformed tool.
    for (const [name, tool] of tools?.after ?? [])
      if (!tools?.before.has(name)) reportMalformedTool(null, tool, walk.ofTool(name))
  }
  for (const kind of OFFER_KINDS) {
    const lists = comparable(kind.list, base, head)
    if (lists !== null) compareOffers(kind, lists.before, lists.after, walk)
  }
  return examined
}

/**
 * The lists of both sides, or null if one side cannot contain them: a `tools/list` result removes no prompt. In a
 * whole record a missing list is empty.
 */
function comparable(
  list: keyof McpManifest['lists'],
  base: McpManifest,
  head: McpManifest,
): { readonly before: McpItems; readonly after: McpItems } | null {
  const before = base.lists[list] ?? (base.isWhole ? NO_ITEMS : null)
  const after = head.lists[list] ?? (head.isWhole ? NO_ITEMS : null)
  return before === null || after === null ? null : { before, after }
}
