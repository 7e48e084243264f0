/**
 * Turns changes of a protobuf contract into finding groups: fills in messages, and finds the rpcs that each change
 * reaches.
 */
import type { ComparisonStats } from '../../format.ts'
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { Declared, ProtoFile } from '../../contracts/protobuf/model.ts'
import type { Operation } from '../../finding.ts'
import type { Grouping } from '../../rules/findings/grouping.ts'
import { ReportedChange, ReportedPlace, type ReachedPlace } from '../../rules/findings/judged-change.ts'
import type { NameCount } from '../../rules/findings/name-count.ts'
import { PROTO_RULES, type ProtoRuleId } from '../../rules/protobuf/rows.ts'
import { filledIn, ruleNamed } from '../../rules/row.ts'
import { isEqual } from '../../schema/equality.ts'
import { nameValue } from '../../schema/values.ts'
import { reachOf, type Reach } from './affected-rpcs.ts'

export const HTTP_OPTION = '(google.api.http)'

export interface ProtoChange {
  readonly rule: ProtoRuleId
  /** The changed element, by names that do not depend on order or file: a full name, or a full name and a member. */
  readonly subject: string
  readonly side: 'base' | 'head'
  readonly location: string
  readonly name?: string
  readonly before?: unknown
  readonly after?: unknown
  /** The rpcs that the change reaches: given directly, or by the full name of a message or enum. */
  readonly reaches?: string | readonly Operation[]
}

export class ProtoReport {
  readonly base: ProtoContract
  readonly head: ProtoContract
  readonly #grouping: Grouping
  readonly #reach: Readonly<Record<'base' | 'head', Reach>>
  readonly #touched: Readonly<Record<'endpoints' | 'fields', NameCount>>

  constructor(base: ProtoContract, head: ProtoContract, grouping: Grouping) {
    this.base = base
    this.head = head
    this.#grouping = grouping
    this.#touched = { endpoints: grouping.countNames(), fields: grouping.countNames() }
    this.#reach = { base: reachOf(base), head: reachOf(head) }
  }

  /** The head's version of a base file: by path, or as the only file of a set without paths. */
  headFileOf({ path }: ProtoFile): ProtoFile | undefined {
    const { files } = this.head
    const isAlone = this.base.files.size === 1 && files.size === 1 && (path === '' || files.has(''))
    return isAlone ? [...files.values()][0] : files.get(path)
  }

  add({ rule: id, name = '', before = null, after = null, reaches = [], ...place }: ProtoChange): void {
    const { rule, advice, sentence: text } = ruleNamed(PROTO_RULES, id)
    if (this.#grouping.isOff(id)) return
    const words: Readonly<Record<string, string>> = { name, before: nameValue(before), after: nameValue(after) }
    const message = filledIn(text, words)
    const operations = typeof reaches === 'string' ? this.#reach[place.side](reaches) : reaches
    for (const reached of placesOf(operations, message, place.subject)) {
      this.#grouping.add(new ReportedChange({ ...place, rule, message, advice, before, after }), reached)
      if (rule.level !== 'info' && reached.operation !== null) this.#touched.endpoints.add(reached.operation.path)
    }
    if (rule.level !== 'info' && rule.area === 'protobuf fields') this.#touched.fields.add(place.subject)
  }

  touched(): ComparisonStats['touched'] {
    const { endpoints, fields } = this.#touched
    return { endpoints: endpoints.size, fields: fields.size, params: 0 }
  }
}

function placesOf(operations: readonly Operation[], message: string, detail: string): readonly ReachedPlace[] {
  if (operations.length === 0) return [new ReportedPlace({ operation: null, tool: null, message, detail })]
  return operations.map(
    (operation) => new ReportedPlace({ operation, tool: null, message: `${message} (${operation.path})`, detail }),
  )
}

/** `(google.api.http)`, set as a whole or member by member. */
function isHttpOption(option: string): boolean {
  return option === HTTP_OPTION || option.startsWith(`${HTTP_OPTION}.`)
}

/** `deprecated` and custom options of any declaration. HTTP bindings are compared elsewhere. */
export function compareCommonOptions(
  before: Declared,
  after: Declared,
  report: ProtoReport,
  judged: ReadonlySet<string>,
  reaches: string | readonly Operation[],
): void {
  const place = { side: 'head', location: after.at, name: after.name, reaches } as const
  if (before.options.get('deprecated') !== true && after.options.get('deprecated') === true) {
    report.add({ ...place, rule: 'proto-deprecated', subject: `${after.fullName} deprecated`, after: true })
  }
  for (const option of new Set([...before.options.keys(), ...after.options.keys()])) {
    const isJudged = judged.has(option) || isHttpOption(option)
    if (option === 'deprecated' || option.startsWith('features') || isJudged) continue
    const was = statedOption(before, option)
    const is = statedOption(after, option)
    if (isEqual(was, is)) continue
    const values = { before: { [option]: was }, after: { [option]: is } }
    report.add({ ...place, rule: 'proto-option-changed', subject: `${after.fullName} ${option}`, ...values })
  }
}

/**
 * Flags of descriptor.proto for messages, fields and rpcs are false by default. The defaults of other options are
 * unknown.
 */
function statedOption({ options }: Declared, option: string): unknown {
  const value = options.get(option) ?? null
  return value === false && !option.startsWith('(') ? null : value
}
