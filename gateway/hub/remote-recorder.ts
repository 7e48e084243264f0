/** Records decisions at a hub, which signs them: this process has no signing key. */
import { engine } from '../loading/lazy-engine.ts'
import { GatewayError } from '../errors/errors.ts'
import type { DecisionRecorder } from '../flow/recorder.ts'
import type { HubConnection } from '../store/hub/connection.ts'
import type { HubStore } from '../store/hub/store.ts'

export function createRemoteRecorder(
  connection: Pick<HubConnection, 'ask'>,
  store: Pick<HubStore, 'recording'>,
): DecisionRecorder {
  return {
    async record({ draft, route, previous, supersessionKey, mayJoin, answerOf }) {
      const request = { draft, route, previous, supersessionKey, mayJoin }
      const issuedAtHub = store.recording()
      // The hub knows a decision by its id, so it may be asked again.
      const answer = await connection.ask('POST', '/hub/v1/decisions', request, true)
      const envelope: unknown =
        typeof answer === 'object' && answer !== null && 'envelope' in answer ? answer.envelope : null
      const checked = engine().checkProducerForm(envelope)
      if (!checked.ok)
        throw new GatewayError('STORE_UNAVAILABLE', undefined, { cause: new Error('the hub answered no envelope') })
      const issued = { envelope: checked.value, token: checked.value.receipt.token }
      issuedAtHub(checked.value.decision_id)
      answerOf(issued)
      return issued
    },
  }
}
