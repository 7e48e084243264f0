/**
 * What one implementation of an aggregate is written against, so that it serves SQLite and PostgreSQL. It has an executor of
 * statements, and the marks that distinguish reads from writes. The few different words of both databases are here too.
 */
import type { SqlRow, SqlValue } from './columns.ts'

/**
 * Runs statements on one connection, inside the transaction of the operation. Texts are literals of this program or built from
 * literals only; `?` stands for a value. A text is prepared or rewritten once, so it must not grow with its values.
 */
export interface Sql {
  readonly dialect: 'sqlite' | 'postgres'
  /** The chain of this gateway where each gateway has its own; null: there is one chain. */
  readonly writer: string | null
  get(text: string, ...values: readonly SqlValue[]): Promise<SqlRow | undefined>
  all(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>
  /** Rows changed. */
  run(text: string, ...values: readonly SqlValue[]): Promise<number>
}

/**
 * `write`: runs in a transaction of its own, or in one that many operations share; all of it is stored or nothing. It may run
 * again after the database rolled it back. `statement`: a write of one statement, which needs no transaction around it.
 * `snapshot`: all of its reads see one moment.
 */
interface StoreOperation<Values extends readonly unknown[], Result> {
  readonly kind: 'read' | 'snapshot' | 'statement' | 'write'
  readonly run: (sql: Sql, ...values: Values) => Promise<Result>
}

/** An operation that is found by its name: what called it knows the types of its values. */
export interface NamedOperation {
  readonly kind: StoreOperation<[], unknown>['kind']
  readonly run: (sql: Sql, ...values: never[]) => Promise<unknown>
}

export function read<Values extends readonly unknown[], Result>(
  run: (sql: Sql, ...values: Values) => Promise<Result>,
): StoreOperation<Values, Result> {
  return { kind: 'read', run }
}

export function statement<Values extends readonly unknown[], Result>(
  run: (sql: Sql, ...values: Values) => Promise<Result>,
): StoreOperation<Values, Result> {
  return { kind: 'statement', run }
}

export function snapshot<Values extends readonly unknown[], Result>(
  run: (sql: Sql, ...values: Values) => Promise<Result>,
): StoreOperation<Values, Result> {
  return { kind: 'snapshot', run }
}

export function write<Values extends readonly unknown[], Result>(
  run: (sql: Sql, ...values: Values) => Promise<Result>,
): StoreOperation<Values, Result> {
  return { kind: 'write', run }
}

/** One operation for each method of an aggregate. */
export type Operations<Aggregate> = {
  readonly [Name in keyof Aggregate]: Aggregate[Name] extends (...values: infer Values) => Promise<infer Result>
    ? StoreOperation<Values, Result>
    : never
}

/** The texts of a column as one text, joined with commas; null when there are none. */
export function joinedTexts({ dialect }: Pick<Sql, 'dialect'>, column: string): string {
  return dialect === 'sqlite' ? `group_concat(${column})` : `string_agg(${column}, ',')`
}

/** The same, in the order of their code points. */
export function sortedListOf({ dialect }: Pick<Sql, 'dialect'>, column: string): string {
  return dialect === 'sqlite'
    ? `group_concat(${column}, ',' ORDER BY ${column})`
    : `string_agg(${column}, ',' ORDER BY ${column} COLLATE "C")`
}

/** Whether a column is in a list of texts, which is one value: the list as JSON. */
export function isIn({ dialect }: Pick<Sql, 'dialect'>, column: string): string {
  return dialect === 'sqlite'
    ? `${column} IN (SELECT value FROM json_each(?))`
    : `${column} IN (SELECT json_array_elements_text(CAST(? AS json)))`
}

/** JSON text of a list of triples of two texts, the second of which may be null, and a JSON text. */
export function triplesOf(
  { dialect }: Pick<Sql, 'dialect'>,
  [first, second, json]: readonly [first: string, second: string, json: string],
  order: string,
): string {
  return dialect === 'sqlite'
    ? `json_group_array(json_array(${first}, ${second}, json(${json})) ORDER BY ${order})`
    : `json_agg(json_build_array(${first}, ${second}, ${json}::json) ORDER BY ${order})::text`
}

/** An item of a column with a JSON list of texts. */
export function itemOf({ dialect }: Pick<Sql, 'dialect'>, column: string, index: number): string {
  return dialect === 'sqlite' ? `${column} ->> ${index}` : `CAST(${column} AS json) ->> ${index}`
}

/** At the end of a query: nobody changes the row before this transaction ends. In SQLite nobody can. */
export function locked({ dialect }: Pick<Sql, 'dialect'>): string {
  return dialect === 'sqlite' ? '' : ' FOR UPDATE'
}

/**
 * Until this transaction ends, nobody else is past this point with the same text: what is not there yet can be made once. In SQLite
 * writes follow each other. To be called first: what waits here holds nothing that others wait for.
 */
export async function lockText(sql: Sql, text: string): Promise<void> {
  if (sql.dialect === 'postgres') await sql.get('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', text)
}
