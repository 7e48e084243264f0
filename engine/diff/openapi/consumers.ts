/** Who a contract says uses it: `x-consumers` of the document and of its operations, names or objects with a name. */
import { pathItemsOf, type OpenApiContract } from '../../contracts/openapi/contract.ts'
import { isRecord } from '../../schema/located.ts'

/** One name and what it uses; `operation` null: the whole contract. */
export interface ContractConsumer {
  readonly name: string
  /** `METHOD /path`, as the contract writes it. */
  readonly operation: string | null
}

const MEMBER = 'x-consumers'
/** Rows that one comparison carries, at the most: beyond it nobody counts consumers by hand. */
const MAX_ROWS = 10_000
/** The bound of consumers in the configuration. */
const MAX_NAME = 200

/** Of both sides, each row once: who uses what is taken away, and who uses what comes. */
export function contractConsumers(base: OpenApiContract, head: OpenApiContract): readonly ContractConsumer[] {
  const rows = new Map<string, ContractConsumer>()
  for (const contract of [base, head])
    for (const row of consumersOf(contract)) {
      if (rows.size === MAX_ROWS) return [...rows.values()]
      rows.set(JSON.stringify([row.name, row.operation]), row)
    }
  return [...rows.values()]
}

function consumersOf(contract: OpenApiContract): readonly ContractConsumer[] {
  const { value } = contract.root
  const whole = isRecord(value) ? namesIn(value[MEMBER]) : []
  const single = pathItemsOf(contract, 'paths').flatMap(({ path, operations }) =>
    [...operations.values()].flatMap((operation) =>
      namesIn(operation.value[MEMBER]).map((name) => ({ name, operation: `${operation.method} ${path}` })),
    ),
  )
  return [...whole.map((name) => ({ name, operation: null })), ...single]
}

/** What is no name is passed over: the member is not part of OpenAPI, and a decision does not hang on it. */
function namesIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) => {
    const name = isRecord(item) ? item['name'] : item
    return typeof name === 'string' && name !== '' && name.length <= MAX_NAME ? [name] : []
  })
}
