/**
 * Turns changes of a contract of rows and schemas into finding groups, for the formats without HTTP operations. It
 * fills in messages, judges schemas in use by the families, and counts what is touched.
 */
import type { ComparisonStats } from '../format.ts'
import type { FindingGroup, Level } from '../finding.ts'
import { adviceOf, type Advice } from '../rules/advice.ts'
import { filledIn, ruleNamed, type ContractRule } from '../rules/row.ts'
import type { Grouping } from '../rules/findings/grouping.ts'
import type { LifecycleOptions } from '../rules/lifecycle.ts'
import { ReportedChange, ReportedPlace } from '../rules/findings/judged-change.ts'
import type { NameCount } from '../rules/findings/name-count.ts'
import type { Rule } from '../rules/rule.ts'
import type { SchemaUse } from '../rules/judging/schema-judge.ts'
import { judgeUse, type JudgedUse, type SchemaProofs } from '../rules/judging/schema-use.ts'
import type { SchemaPair } from '../schema/comparison/comparison.ts'
import { pointerOf, stepInto, type Located, type Place } from '../schema/located.ts'
import { nameValue } from '../schema/values.ts'

/** A change that a row judges. */
export interface RowChange {
  readonly rule: string
  /** The changed element, by names without positions. */
  readonly subject: string
  readonly side: 'base' | 'head'
  readonly located: Located
  readonly name?: string
  readonly before?: unknown
  readonly after?: unknown
  /** The part of the contract that contains the change: a version, a channel. Empty for the whole contract. */
  readonly endpoint?: string
  /** The location as text, appended to the message in parentheses. One change may be reported at several locations. */
  readonly where?: string
  /** The changed part within that location, as text. */
  readonly detail?: string
}

/** A pair of schemas at a place that uses it. */
export interface SchemaInUse {
  readonly pair: SchemaPair
  readonly use: Omit<SchemaUse, 'lifecycle' | 'parameter'>
  /** The location as text, appended to the message in parentheses. Empty if the contract is the schema. */
  readonly where: string
  /** Steps shown before those of the schema. */
  readonly lead: readonly string[]
  readonly endpoint: string
  /**
   * The identity of a change. A shared schema is identified by its place; an inline schema by its path and the name of
   * its owner.
   */
  readonly identity: { readonly by: 'place' } | { readonly by: 'way'; readonly of: string }
  /** Changes that are left out, because another walker reports them. */
  readonly skips?: (pair: SchemaPair) => boolean
}

export class ContractReport {
  readonly #rules: ReadonlyMap<string, ContractRule>
  readonly #grouping: Grouping
  readonly #lifecycle: LifecycleOptions
  readonly #touched: Readonly<Record<'endpoints' | 'fields', NameCount>>

  constructor(rules: ReadonlyMap<string, ContractRule>, grouping: Grouping, lifecycle: LifecycleOptions) {
    this.#rules = rules
    this.#grouping = grouping
    this.#touched = { endpoints: grouping.countNames(), fields: grouping.countNames() }
    this.#lifecycle = lifecycle
  }

  /** Reports a change that a row of the format judges. */
  add({ rule: id, subject, side, located, name = '', before = null, after = null, ...place }: RowChange): void {
    const { endpoint = '', where = '', detail = '' } = place
    const row = ruleNamed(this.#rules, id)
    const words: Readonly<Record<string, string>> = { name, before: nameValue(before), after: nameValue(after) }
    const message = filledIn(row.sentence, words)
    const placeWords = [where, detail].filter((text) => text !== '').join(', ')
    const inPlace = placeWords === '' ? message : `${message} (${placeWords})`
    this.#add(row.rule, row.advice, {
      subject,
      side,
      located,
      message,
      inPlace,
      before,
      after,
      detail: `${where} ${subject}`,
    })
    this.#touch(row.rule, endpoint, subject)
  }

  /** Judges every change that a schema in use reaches. */
  reportSchema({ pair, use, where, lead, endpoint, identity, skips }: SchemaInUse, proofs: SchemaProofs): void {
    const visit = ({ reached, ruleRow: rule, message, level }: JudgedUse): void => {
      const { delta } = reached
      const isGone = delta.after === null && delta.before !== null
      const owner = isGone ? reached.pair.before : reached.pair.after
      const at = delta.steps.reduce<Place>(stepInto, owner.at)
      const path = reached.path.join('/')
      const root = identity.by === 'way' ? `${identity.of} ${path}` : pointerOf(owner.at, owner.document)
      this.#add(rule, adviceOf(rule, use.sites.root.direction), {
        subject: `${root} ${delta.keyword} ${delta.name ?? ''}`,
        side: isGone ? 'base' : 'head',
        located: { value: null, at, document: owner.document },
        message,
        inPlace: where === '' ? message : `${message} (${where})`,
        before: delta.before,
        after: delta.after,
        detail: `${where} ${path}`,
        ...(level !== undefined && { level }),
      })
      this.#touch(rule, endpoint, `${where} ${path}/${delta.property ? (delta.name ?? '') : ''}`, level)
    }
    const whole: SchemaUse = { ...use, parameter: null, lifecycle: this.#lifecycle }
    judgeUse({ pair, use: whole, proofs, lead, ...(skips && { skips }) }, visit)
  }

  finish(): readonly FindingGroup[] {
    return this.#grouping.finish()
  }

  get touched(): ComparisonStats['touched'] {
    const { endpoints, fields } = this.#touched
    return { endpoints: endpoints.size, fields: fields.size, params: 0 }
  }

  #add(
    rule: Rule,
    advice: Advice,
    {
      subject,
      side,
      located,
      message,
      inPlace,
      before,
      after,
      detail,
      level,
    }: {
      readonly subject: string
      readonly side: 'base' | 'head'
      readonly located: Located
      readonly message: string
      readonly inPlace: string
      readonly before: unknown
      readonly after: unknown
      readonly detail: string
      readonly level?: Level
    },
  ): void {
    const location = pointerOf(located.at, located.document)
    this.#grouping.add(
      new ReportedChange({ rule, subject, side, location, message, advice, before, after, ...(level && { level }) }),
      new ReportedPlace({ operation: null, tool: null, message: inPlace, detail }),
    )
  }

  #touch(rule: Rule, endpoint: string, field: string, proved: Level = rule.level): void {
    const level = this.#grouping.levelOf(rule.id, proved)
    if (level === 'info' || level === 'off') return
    if (endpoint !== '') this.#touched.endpoints.add(endpoint)
    this.#touched.fields.add(`${endpoint} ${field}`)
  }
}
