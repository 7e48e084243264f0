/** The consumers that the configuration declares, in the engine's terms. */
import type { DeclaredConsumer } from '../../engine/index.ts'
import type { Config } from '../config/schema.ts'

export function declaredConsumers({ consumers }: Pick<Config, 'consumers'>): readonly DeclaredConsumer[] {
  return consumers.map(({ name, uses }) => ({
    name,
    uses: uses.map(({ artifact = null, operation = null, tool = null }) => ({ artifact, operation, tool })),
  }))
}
