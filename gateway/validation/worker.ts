/** Entry of the thread that holds messages against contracts: a stranger's schemas and patterns run here, and end with the thread when they do not end themselves. */
import { parentPort } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { conformanceOf } from './conformance.ts'
import { openContract, type CheckedContract } from './contract.ts'
import type { Job, Reply } from './message.ts'

const contracts = new LRUCache<string, CheckedContract>({ max: 32 })

function answer({ id, digest, contract: text, message }: Job): Reply {
  const contract = contracts.get(digest) ?? (text === null ? undefined : openContract(text))
  if (contract === undefined) return { id, ok: false, isUnknown: true, why: 'the contract is not here' }
  contracts.set(digest, contract)
  return { id, ok: true, value: conformanceOf(message, contract) }
}

parentPort?.on('message', (job: Job) => {
  let reply: Reply
  try {
    reply = answer(job)
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown'
    reply = { id: job.id, ok: false, isUnknown: false, why }
  }
  parentPort?.postMessage(reply)
})
