/**
 * Turns deltas and schemas in use into findings. Each change is judged once for each use, and grouped over the places
 * that it reaches.
 */
import type { ComparisonStats } from '../../format.ts'
import type { FindingGroup, Level, Operation } from '../../finding.ts'
import type { Advice } from '../../rules/advice.ts'
import type { Grouping } from '../../rules/findings/grouping.ts'
import { isPlainer, ReportedChange, ReportedPlace, type JudgedChange } from '../../rules/findings/judged-change.ts'
import type { NameCount } from '../../rules/findings/name-count.ts'
import type { LifecycleOptions } from '../../rules/lifecycle.ts'
import { openApiAdvice } from '../../rules/openapi/advice.ts'
import { openApiRowOf } from '../../rules/openapi/rules.ts'
import type { Rule } from '../../rules/rule.ts'
import { judgeUse, type JudgedUse, type SchemaProofs } from '../../rules/judging/schema-use.ts'
import { ruleOf } from '../../rules/catalog/table.ts'
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import type { ResolvedSchema } from '../../schema/source.ts'
import type { SchemaDelta } from '../../schema/delta.ts'
import { pointerOf, stepInto, type Place } from '../../schema/located.ts'
import { MAX_WAYS, type Reached } from '../../schema/comparison/reachable-changes.ts'
import { nameValue } from '../../schema/values.ts'
import type { ContractDelta, SchemaUseSite } from './walk.ts'

/** Above this number of places, one path is reported for each further change. */
const MANY = 50_000
/** Maximum changes that are recognised by the compared object. */
const MAX_KNOWN = 20_000

/** A schema change whose message is still being chosen. */
class WordedChange implements JudgedChange {
  readonly rule: Rule
  readonly level?: Level
  readonly subject: string
  readonly side: 'base' | 'head'
  message: string
  readonly #delta: SchemaDelta
  readonly #owner: ResolvedSchema

  constructor(delta: SchemaDelta, pair: SchemaPair, rule: Rule, message: string, level?: Level) {
    const isGone = delta.after === null && delta.before !== null
    this.#delta = delta
    this.#owner = isGone ? pair.before : pair.after
    this.rule = rule
    if (level !== undefined) this.level = level
    this.subject = `${pointerOf(this.#owner.at, this.#owner.document)} ${delta.keyword} ${delta.name ?? ''}`
    this.side = isGone ? 'base' : 'head'
    this.message = message
  }

  /** Computed on demand: most changes of a flood are only counted. */
  get location(): string {
    return pointerOf(this.#delta.steps.reduce<Place>(stepInto, this.#owner.at), this.#owner.document)
  }

  get advice(): Advice {
    return openApiAdvice(this.rule)
  }

  get before(): unknown {
    return this.#delta.before
  }

  get after(): unknown {
    return this.#delta.after
  }
}

export class Findings {
  readonly #touched: Readonly<Record<'endpoints' | 'params', NameCount>>
  /** Fields of the current place, and the number of fields of earlier places. */
  readonly #fields: NameCount
  #fieldsBefore = 0
  #place = ''
  readonly #grouping: Grouping
  readonly #lifecycle: LifecycleOptions
  readonly #changes = new Map<SchemaDelta, WordedChange | Map<string, WordedChange>>()
  #hasBreaking = false
  #told = 0

  constructor(grouping: Grouping, lifecycle: LifecycleOptions) {
    this.#grouping = grouping
    this.#fields = grouping.countNames()
    this.#touched = { endpoints: grouping.countNames(), params: grouping.countNames() }
    this.#lifecycle = lifecycle
  }

  /** True if a finding is breaking. */
  get hasBreaking(): boolean {
    return this.#hasBreaking
  }

  /** How many places have findings above the level of information. */
  get touched(): ComparisonStats['touched'] {
    const { endpoints, params } = this.#touched
    return { endpoints: endpoints.size, fields: this.#fieldsBefore + this.#fields.size, params: params.size }
  }

  finish(): readonly FindingGroup[] {
    this.#changes.clear()
    return this.#grouping.finish()
  }

  /** Judges a change outside of schemas. */
  addDelta(delta: ContractDelta): void {
    const { change, facts, operation, side, located, before, after } = delta
    const words: Readonly<Record<string, unknown>> = { before, after, ...facts }
    const row = openApiRowOf(change, words)
    if (row === null) return
    const rule = ruleOf(row.id)
    if (rule === undefined) throw new Error(`no rule ${row.id}`)
    const message = row.sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => nameValue(words[name] ?? null))
    const location = pointerOf(located.at, located.document)
    const subject = delta.subject ?? subjectOf(delta, words)
    const advice = openApiAdvice(rule)
    this.#grouping.add(
      new ReportedChange({ rule, subject, side, location, message, advice, before, after }),
      new ReportedPlace({ operation, tool: null, message, detail: message }),
    )
    this.#touch(
      rule,
      operation,
      null,
      change.startsWith('parameter') ? `${nameValue(words.place)} ${nameValue(words.name)}` : null,
    )
  }

  /** Judges every change that a schema in use reaches. Uses at one place follow each other. */
  addUse(use: SchemaUseSite, proofs: SchemaProofs): void {
    const { sites, mediaType, parameter } = use
    this.#goTo(use)
    const maxWays = this.#told < MANY ? MAX_WAYS : 1
    const lifecycle = { ...this.#lifecycle, impliedStability: use.stability }
    const { operation, where } = use
    const visit = ({ reached, ruleRow, message, level }: JudgedUse): void => {
      this.#told += 1
      const change = this.#changeOf(reached, ruleRow, message, level)
      const detail = `${where} ${reached.path.join('/')} ${reached.delta.name ?? ''}`
      this.#grouping.add(change, new ReportedPlace({ operation, tool: null, message: `${message} (${where})`, detail }))
      const field = [...reached.path, reached.delta.property ? (reached.delta.name ?? '') : ''].join('/')
      this.#touch(ruleRow, operation, `${where} ${field}`, parameter === null ? null : where, level)
    }
    judgeUse({ pair: use.pair, use: { sites, mediaType, parameter, lifecycle }, proofs, maxWays }, visit)
  }

  #goTo({ operation, where }: SchemaUseSite): void {
    const place = `${operation?.method ?? ''} ${operation?.path ?? ''} ${where}`
    if (place === this.#place) return
    this.#place = place
    this.#fieldsBefore += this.#fields.size
    this.#fields.clear()
    this.#grouping.leavePlace()
  }

  /** One change under one rule is one object, so its identity is computed once. */
  #changeOf({ delta, isHeld, pair }: Reached, rule: Rule, message: string, level?: Level): JudgedChange {
    if (!isHeld || level !== undefined) return new WordedChange(delta, pair, rule, message, level)
    const known = this.#changes.get(delta)
    const change = known instanceof Map ? known.get(rule.id) : known?.rule === rule ? known : undefined
    if (change !== undefined) {
      if (isPlainer(message, change.message)) change.message = message
      return change
    }
    const made = new WordedChange(delta, pair, rule, message)
    // Not all changes of a flood are kept. Grouping then recognises the change by its identity and selects the message.
    if (this.#changes.size >= MAX_KNOWN) return made
    if (known === undefined) this.#changes.set(delta, made)
    else if (known instanceof Map) known.set(rule.id, made)
    else
      this.#changes.set(
        delta,
        new Map([
          [known.rule.id, known],
          [rule.id, made],
        ]),
      )
    return made
  }

  #touch(
    rule: Rule,
    operation: Operation | null,
    field: string | null,
    parameter: string | null,
    proved: Level = rule.level,
  ): void {
    const level = this.#grouping.levelOf(rule.id, proved)
    if (level === 'breaking') this.#hasBreaking = true
    if (level === 'info' || level === 'off') return
    const endpoint = operation === null ? '' : `${operation.method} ${operation.path}`
    if (operation !== null) this.#touched.endpoints.add(endpoint)
    if (parameter !== null) this.#touched.params.add(`${endpoint} ${parameter}`)
    else if (field !== null) this.#fields.add(field)
  }
}

/** One part of one operation, by names that do not depend on order. */
function subjectOf({ change, operation }: ContractDelta, facts: Readonly<Record<string, unknown>>): string {
  const names = [facts.status, facts.place, facts.name, facts.scope]
  return [operation?.method, operation?.path, change, ...names].map((name) => nameValue(name ?? '')).join(' ')
}
