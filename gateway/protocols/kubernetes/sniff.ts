/** The contract type of a text in an object, as the engine sniffs it. */
import type { Flow } from '../../flow/flow.ts'
import type { Sniff } from './change.ts'

export function sniffing(flow: Pick<Flow, 'sniff'>): Sniff {
  return async (text) => {
    const type = await flow.sniff('', text)
    return type.ok ? type.value : null
  }
}
