/** How the walkers of an MCP manifest report changes: each at its tool, prompt or resource. */
import { brief, type Offer } from '../../model/finding.ts'
import type { ToolValue } from '../../contracts/mcp-parts.ts'
import type { MalformedPart } from '../../contracts/malformed-parts.ts'
import type { AgentToolRuleId } from '../../rules/agent-tools/rows.ts'
import type { ReachedPlace } from '../../rules/findings/judged-change.ts'
import type { Report, ReportedUse, Touched } from '../../rules/judging/report.ts'
import type { McpRuleId } from '../../rules/mcp/rows.ts'
import type { Rule } from '../../rules/rule.ts'
import { pointerOf } from '../../schema/located.ts'
import { compareMalformed } from '../malformed-parts.ts'
import type { SchemaComparison } from '../../schema/comparison/comparison.ts'

interface McpChange {
  readonly rule: McpRuleId | AgentToolRuleId
  /**
   * The changed element by names without positions and without the tool: the same change of many tools is one group.
   */
  readonly subject: string
  readonly side: 'base' | 'head'
  /** JSON Pointer into the document of `side`. */
  readonly location: string
  readonly name?: string
  readonly before?: unknown
  readonly after?: unknown
  /** What a malformed part has to be. */
  readonly form?: string
  /** The detail of a text row: the difference, the evidence. */
  readonly detail?: string
}

/** A pair of schemas of a tool. */
interface ToolSchemas extends Pick<ReportedUse, 'pair' | 'use' | 'isGone'> {
  readonly subjectOf: NonNullable<ReportedUse['subjectOf']>
}

export interface McpWalk {
  /** The tool whose parts are compared. Null for parts of the whole server. */
  readonly tool: string | null
  /** Names of the tools in the head. References to them in texts are weighed. */
  readonly tools: ReadonlySet<string>
  /** What tools may return as a structured result. Before MCP 2026-07-28: objects only. */
  readonly results: ToolValue
  readonly add: (change: McpChange) => void
  readonly addSchemas: (schemas: ToolSchemas, comparison: SchemaComparison) => void
  /** The same walk for one tool, or for one prompt, resource or template. */
  readonly ofTool: (name: string) => McpWalk
  readonly ofOffer: (offer: Offer) => McpWalk
}

export type McpReport = Report<{ readonly rule: McpRuleId | AgentToolRuleId }>

/** The owner of the parts that a walk compares; null for the whole server. */
interface WalkOwner {
  readonly tool: string | null
  readonly offer: Offer | null
}

const SERVER: WalkOwner = { tool: null, offer: null }

export function mcpWalk(
  report: McpReport,
  offered: Pick<McpWalk, 'tools' | 'results'>,
  owner: WalkOwner = SERVER,
): McpWalk {
  const { tool } = owner
  return {
    tool,
    tools: offered.tools,
    results: offered.results,
    add: ({ name, form, detail, before = null, after = null, ...change }) =>
      report.add({
        ...change,
        before,
        after,
        facts: { name, form, detail, before: brief(before), after: brief(after) },
        places: (message, rule) => [toolLocation(owner, rule, message, change.subject)],
        touches: (rule) => touchedBy(tool, rule, change.subject),
      }),
    addSchemas: (schemas, comparison) =>
      report.addUse(
        {
          ...schemas,
          placeOf: ({ reached, ruleRow, message }) =>
            toolLocation({ tool, offer: null }, ruleRow, message, schemas.subjectOf(reached)),
          touches: ({ reached, ruleRow }) => touchedBy(tool, ruleRow, schemas.subjectOf(reached)),
        },
        comparison,
      ),
    ofTool: (name) => mcpWalk(report, offered, { tool: name, offer: null }),
    ofOffer: (offer) => mcpWalk(report, offered, { tool: null, offer }),
  }
}

/** The malformed parts of an item that one side does not have. */
export const NOTHING_MALFORMED: ReadonlyMap<string, MalformedPart> = new Map()

/**
 * Reports malformed parts of an item, a session or a schema.
 * @param prefix of the names of the parts
 */
export function addMalformed(
  base: ReadonlyMap<string, MalformedPart>,
  head: ReadonlyMap<string, MalformedPart>,
  prefix: string,
  walk: McpWalk,
): void {
  compareMalformed(base, head, ({ place, located, ...change }) => {
    const name = `${prefix}${place}`
    const location = pointerOf(located.at, located.document)
    walk.add({ ...change, rule: 'mcp-part-malformed', subject: name, location, name })
  })
}

/** Rules whose messages already name the tool. */
const NAMING_RULES: ReadonlySet<string> = new Set<McpRuleId>([
  'mcp-tool-added',
  'mcp-tool-removed',
  'mcp-tool-renamed',
  'mcp-tool-name-similar',
])

function toolLocation({ tool, offer }: WalkOwner, { id }: Rule, message: string, detail: string): ReachedPlace {
  const inPlace = tool === null || NAMING_RULES.has(id) ? message : `tool \`${tool}\`: ${message}`
  return { operation: null, tool, ...(offer !== null && { offer }), message: inPlace, detail }
}

function touchedBy(tool: string | null, { direction }: Rule, subject: string): Touched {
  const name = `${tool ?? ''} ${subject}`
  return {
    endpoint: tool,
    field: direction === 'response' ? name : null,
    param: direction === 'request' ? name : null,
  }
}
