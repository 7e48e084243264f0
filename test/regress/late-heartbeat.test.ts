/** A database that answers slowly ended the gateway: the timer of one heartbeat rejected the promise of the next, which nobody awaited yet. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { startListener } from '../../gateway/store/postgres/listener.ts'
import { until } from '../fakes/until.ts'

const BOUND = 0.15

/** A connection whose heartbeats come back, the second one long after the bound of the first. */
function slowConnection(onBeat: () => void): Client {
  const client = new Client()
  let beats = 0
  const query = async (text: string): Promise<object> => {
    const [, channel] = /pg_notify\('(\w+)'/.exec(text) ?? []
    if (channel === undefined) return { rows: [] }
    beats += 1
    onBeat()
    if (beats === 2) await new Promise((resolve) => setTimeout(resolve, BOUND * 3000))
    client.emit('notification', { channel, payload: '' })
    return { rows: [] }
  }
  return Object.assign(client, { query, end: async () => {} })
}

test('a heartbeat that is sent slowly neither ends the process nor the connection', async () => {
  let [beats, connections] = [0, 0]
  const live: boolean[] = []
  const listener = startListener({
    connections: {
      dedicated: async () => {
        connections += 1
        return slowConnection(() => (beats += 1))
      },
    },
    bound: BOUND,
    onLive: (isLive) => live.push(isLive),
    onTime: () => {},
  })
  await until(() => beats >= 4, 'heartbeats go on')
  await listener.close()
  // The slow one proves only what is older than the bound.
  assert.deepEqual([connections, live.slice(0, 3)], [1, [true, false, true]])
})
