/**
 * The consumers that a contract states: `x-consumers` of the document and of its operations, as names or objects with
 * a name.
 */
import type { PathItem } from '../../contracts/openapi/contract.ts'
import { isRecord, type Located } from '../../schema/located.ts'

/** One name and what it uses. `operation` is null for the whole contract. */
export interface ContractConsumer {
  readonly name: string
  /** `METHOD /path`, as the contract writes it. */
  readonly operation: string | null
}

const MEMBER = 'x-consumers'
/** Maximum rows of one comparison. */
const MAX_ROWS = 10_000
/** Maximum length of a consumer name in the configuration. */
const MAX_NAME = 200

interface ContractPaths {
  readonly root: Located
  readonly paths: readonly PathItem[]
}

/** The consumers of both sides, each row once: those of removed elements and those of added ones. */
export function contractConsumers(sides: readonly ContractPaths[]): readonly ContractConsumer[] {
  const rows = new Map<string, ContractConsumer>()
  for (const side of sides)
    for (const row of consumersOf(side)) {
      if (rows.size === MAX_ROWS) return [...rows.values()]
      rows.set(JSON.stringify([row.name, row.operation]), row)
    }
  return [...rows.values()]
}

function consumersOf({ root: { value }, paths }: ContractPaths): readonly ContractConsumer[] {
  const whole = isRecord(value) ? consumerNames(value[MEMBER]) : []
  const single = paths.flatMap(({ path, operations }) =>
    [...operations.values()].flatMap((operation) =>
      consumerNames(operation.value[MEMBER]).map((name) => ({ name, operation: `${operation.method} ${path}` })),
    ),
  )
  return [...whole.map((name) => ({ name, operation: null })), ...single]
}

/** Entries that are not names are ignored. The member is not part of OpenAPI, and no decision depends on it. */
function consumerNames(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) => {
    const name = isRecord(item) ? item['name'] : item
    return typeof name === 'string' && name !== '' && name.length <= MAX_NAME ? [name] : []
  })
}
