/** The real writer thread, in a thread that dies when it is asked to probe. */
import { parentPort } from 'node:worker_threads'
import type { Order } from '../../gateway/store/sqlite/client.ts'

parentPort?.on('message', (order: Order<never>) => {
  if (order.type === 'call' && order.call.name === 'health.probe') process.exit(7)
})

await import('../../gateway/store/sqlite/writer.ts')
