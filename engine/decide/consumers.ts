/** The declared consumers of a contract that a change reaches. Information findings reach nobody. */
import type { FindingGroup, Occurrence } from '../model/finding.ts'

/** One use by a consumer. A null member does not narrow it. */
export interface ConsumerUse {
  /** Id of the artifact. */
  readonly artifact: string | null
  /** `METHOD /path`, as the contract writes it. */
  readonly operation: string | null
  readonly tool: string | null
}

export interface DeclaredConsumer {
  readonly name: string
  readonly uses: readonly ConsumerUse[]
}

interface ChangedArtifact {
  readonly id: string
  readonly groups: readonly FindingGroup[]
}

/** The consumers that an artifact itself declares (`x-consumers`), in the common form. */
export function consumersInContract(
  artifact: string,
  declared: readonly { readonly name: string; readonly operation: string | null }[],
): readonly DeclaredConsumer[] {
  return declared.map(({ name, operation }) => ({ name, uses: [{ artifact, operation, tool: null }] }))
}

/** Names, each once, in code-unit order. */
export function reachedConsumers(
  consumers: readonly DeclaredConsumer[],
  artifacts: readonly ChangedArtifact[],
): readonly string[] {
  if (consumers.length === 0) return []
  const touched = artifacts.map(({ id, groups }) => ({ id, ...touchedElements(groups) }))
  const reached = consumers.filter(({ uses }) =>
    uses.some((use) => touched.some((artifact) => isReached(use, artifact))),
  )
  return [...new Set(reached.map(({ name }) => name))].sort()
}

interface TouchedConsumer {
  readonly id: string
  /** The whole contract is touched, and so is every use of it. */
  readonly isWhole: boolean
  readonly operations: ReadonlySet<string>
  readonly tools: ReadonlySet<string>
}

function touchedElements(groups: readonly FindingGroup[]): Omit<TouchedConsumer, 'id'> {
  const places: readonly Occurrence[] = groups
    .filter(({ level }) => level !== 'info')
    .flatMap((group) => group.occurrences)
  return {
    // Unlisted places may concern anyone.
    isWhole: groups.some(({ level, unlisted = 0 }) => level !== 'info' && unlisted > 0) || places.some(isOfWhole),
    operations: new Set(
      places.flatMap(({ operation }) => (operation ? [`${operation.method} ${operation.path}`] : [])),
    ),
    tools: new Set(places.flatMap(({ tool }) => tool ?? [])),
  }
}

function isOfWhole({ operation, tool }: Occurrence): boolean {
  return operation === null && tool === null
}

function isReached({ artifact, operation, tool }: ConsumerUse, touched: TouchedConsumer): boolean {
  if (artifact !== null && artifact !== touched.id) return false
  if (touched.isWhole) return true
  if (operation === null && tool === null) return touched.operations.size + touched.tools.size > 0
  return (operation !== null && touched.operations.has(operation)) || (tool !== null && touched.tools.has(tool))
}
