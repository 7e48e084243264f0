/**
 * How the walkers of AsyncAPI, JSON Schema and custom resources report changes: by located elements, at places that
 * have a text and no operation.
 */
import type { LifecycleOptions } from '../schema/lifecycle.ts'
import type { Report, ReportedUse } from '../rules/judging/report.ts'
import type { SchemaUse } from '../rules/judging/schema-judge.ts'
import type { SchemaComparison, SchemaPair } from '../schema/comparison/comparison.ts'
import { pointerOf, type Located } from '../schema/located.ts'

/** A change outside schemas. */
export interface ContractChange<Id extends string> {
  readonly rule: Id
  /** The changed element, by names without positions. */
  readonly subject: string
  readonly side: 'base' | 'head'
  readonly located: Located
  readonly name?: string
  /** What a malformed part has to be. */
  readonly form?: string
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
export interface SchemaInUse extends Pick<ReportedUse, 'pair' | 'lead' | 'skips'> {
  readonly pair: SchemaPair
  readonly use: Omit<SchemaUse, 'lifecycle' | 'parameter'>
  /** The location as text, appended to the message in parentheses. Empty if the contract is the schema. */
  readonly where: string
  readonly endpoint: string
  /** The owner of an inline schema. Changes are identified by it and their path. Absent: by their place. */
  readonly owner?: string
}

export interface ContractWalk<Id extends string> {
  readonly add: (change: ContractChange<Id>) => void
  readonly addSchemas: (schemas: SchemaInUse, comparison: SchemaComparison) => void
}

export function contractWalk<Id extends string>(
  report: Report<{ readonly rule: Id }>,
  lifecycle: LifecycleOptions,
): ContractWalk<Id> {
  return {
    add: ({ located, name, form, endpoint = '', where = '', detail = '', ...change }) => {
      const words = [where, detail].filter((text) => text !== '').join(', ')
      report.add({
        ...change,
        location: pointerOf(located.at, located.document),
        facts: { name, form },
        places: (message) => [reportedLocation(words, message, `${where} ${change.subject}`)],
        touches: () => ({ endpoint: endpoint || null, field: `${endpoint} ${change.subject}` }),
      })
    },
    addSchemas: ({ use, where, endpoint, owner, ...schemas }, comparison) =>
      report.addUse(
        {
          ...schemas,
          use: { ...use, parameter: null, lifecycle },
          ...(owner !== undefined && {
            subjectOf: ({ path, delta }) => `${owner} ${path.join('/')} ${delta.keyword} ${delta.name ?? ''}`,
          }),
          placeOf: ({ reached, message }) => reportedLocation(where, message, `${where} ${reached.path.join('/')}`),
          touches: ({ reached: { path, delta } }) => ({
            endpoint: endpoint || null,
            field: `${endpoint} ${where} ${path.join('/')}/${delta.property ? (delta.name ?? '') : ''}`,
          }),
        },
        comparison,
      ),
  }
}

function reportedLocation(words: string, message: string, detail: string): ReturnType<ReportedUse['placeOf']> {
  return { operation: null, tool: null, message: words === '' ? message : `${message} (${words})`, detail }
}
