/** Turns changes of a manifest into finding groups: fills in messages and counts what agents touch. */
import type { ComparisonStats } from '../../format.ts'
import type { Direction, Level, Offer } from '../../finding.ts'
import type { Advice } from '../../rules/advice.ts'
import { brief, type Grouping } from '../../rules/findings/grouping.ts'
import { ReportedChange, ReportedPlace } from '../../rules/findings/judged-change.ts'
import { MCP_RULES, type McpRuleId } from '../../rules/mcp/rows.ts'
import { filledIn, ruleNamed } from '../../rules/row.ts'
import type { NameCount } from '../../rules/findings/name-count.ts'
import type { Rule } from '../../rules/rule.ts'
import { nameValue } from '../../schema/values.ts'

/** The location of a change. */
interface McpPlace {
  /** The tool of the change. Null for a change of the whole server. */
  readonly tool: string | null
  /**
   * The changed element by names without positions and without the tool: the same change of many tools is one group.
   */
  readonly subject: string
  readonly side: 'base' | 'head'
  /** JSON Pointer into the document of `side`. */
  readonly location: string
}

interface McpChange extends McpPlace {
  readonly rule: McpRuleId
  readonly name?: string
  readonly before?: unknown
  readonly after?: unknown
  /** The detail of a text row: the difference, the evidence. */
  readonly detail?: string
}

interface SchemaChange extends McpPlace {
  readonly rule: Rule
  /** The level, if it differs from that of the rule. */
  readonly level?: Level
  readonly advice: Advice
  readonly message: string
  readonly before: unknown
  readonly after: unknown
}

/** Rules whose messages already name the tool. */
const NAMING_RULES: ReadonlySet<string> = new Set<McpRuleId>(['mcp-tool-added', 'mcp-tool-removed', 'mcp-tool-renamed'])

type SourceOf = (pointer: string) => string

const asItStands: SourceOf = (pointer) => pointer

/** The elements that agents touch, collected by a report and its parts. */
class TouchedParts {
  readonly tools = new Set<string>()
  readonly changes: Readonly<Record<Direction, NameCount>>

  constructor(grouping: Grouping) {
    this.changes = { request: grouping.countNames(), response: grouping.countNames(), none: grouping.countNames() }
  }
}

export class McpReport {
  readonly #grouping: Grouping
  readonly #sourceOf: Readonly<Record<'base' | 'head', SourceOf>>
  readonly #touched: TouchedParts
  readonly #offer: Offer | undefined

  /** Names of the tools in the head. References to them in texts are weighed. */
  readonly tools: ReadonlySet<string>

  /**
   * `sourceOf` gives the pointer into a document whose tools were read from another form.
   * @param part of another report: findings concern this offer, and are counted there
   */
  constructor(
    grouping: Grouping,
    tools: ReadonlySet<string>,
    sourceOf?: Readonly<Record<'base' | 'head', SourceOf>>,
    part?: { readonly offer: Offer; readonly touched: TouchedParts },
  ) {
    this.#grouping = grouping
    this.tools = tools
    this.#sourceOf = sourceOf ?? { base: asItStands, head: asItStands }
    this.#offer = part?.offer
    this.#touched = part?.touched ?? new TouchedParts(grouping)
  }

  /** The same report for one prompt, resource or template. */
  of(offer: Offer): McpReport {
    return new McpReport(this.#grouping, this.tools, this.#sourceOf, { offer, touched: this.#touched })
  }

  /** Reports a change that a row of the manifest rules judges. */
  add({ rule: id, name, detail, before = null, after = null, ...place }: McpChange): void {
    const { rule, advice, sentence: text } = ruleNamed(MCP_RULES, id)
    const words: Readonly<Record<string, string>> = {
      name: name ?? '',
      detail: detail ?? '',
      before: nameValue(brief(before)),
      after: nameValue(brief(after)),
    }
    const message = filledIn(text, words)
    this.addSchema({ ...place, rule, advice, message, before, after })
  }

  /** Reports a change of a tool's schema, judged by the families. */
  addSchema({ tool, subject, side, location, rule, level, advice, message, before, after }: SchemaChange): void {
    const inPlace = tool === null || NAMING_RULES.has(rule.id) ? message : `tool \`${tool}\`: ${message}`
    this.#grouping.add(
      new ReportedChange({
        rule,
        subject,
        side,
        location: this.#sourceOf[side](location),
        message,
        advice,
        before,
        after,
        ...(level && { level }),
      }),
      new ReportedPlace({
        operation: null,
        tool,
        ...(this.#offer && { offer: this.#offer }),
        message: inPlace,
        detail: subject,
      }),
    )
    if ((level ?? rule.level) === 'info') return
    if (tool !== null) this.#touched.tools.add(tool)
    this.#touched.changes[rule.direction].add(`${tool ?? ''} ${subject}`)
  }

  touched(): ComparisonStats['touched'] {
    const { tools, changes } = this.#touched
    const { request, response } = changes
    return { endpoints: tools.size, fields: response.size, params: request.size }
  }
}
