/** The consumers that a decision reads: those that the configuration declares, and those that the proxy saw. */
import type { DeclaredConsumer } from '../../engine/internal.ts'
import type { ConsumersConfig } from './settings.ts'
import type { StorePart } from '../store/store.ts'

export function declaredConsumers({ consumers }: Pick<ConsumersConfig, 'consumers'>): readonly DeclaredConsumer[] {
  return consumers.map(({ name, uses }) => ({
    name,
    uses: uses.map(({ artifact = null, operation = null, tool = null }) => ({ artifact, operation, tool })),
  }))
}

/**
 * Who called, within the window. An artifact counts when a route serves it: always for intercepted calls, otherwise when its
 * id is the name of a route.
 * @param ids of the artifacts
 * @param now milliseconds since the epoch
 * @returns null: the proxy sees calls of none of the artifacts
 */
export async function observedConsumers(
  { ids, isProxied }: { readonly ids: readonly string[]; readonly isProxied: boolean },
  { observed_consumers: { window }, routes }: Pick<ConsumersConfig, 'observed_consumers' | 'routes'>,
  now: number,
  store: StorePart<'uses.of'>,
): Promise<readonly DeclaredConsumer[] | null> {
  const served = isProxied ? ids : ids.filter((id) => routes.some(({ name }) => name === id))
  if (window === 0 || served.length === 0) return null
  const uses = await store.uses.of(served, now - window * 1000)
  return uses.map(({ consumer, artifact, operation, tool }) => ({
    name: consumer,
    uses: [{ artifact, operation, tool }],
  }))
}
