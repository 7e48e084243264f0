/** Entry of the thread that holds messages against contracts: a stranger's schemas and patterns run here, and end with the thread when they do not end themselves. */
import { parentPort } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { conformanceOf } from './conformance.ts'
import { openContract } from './contract.ts'
import type { Conformance, HttpMessage, Job, ValidatedMessage, OperationsMessage, ValidatorReply } from './message.ts'

/** A message compared with the contract at hand. */
type MessageCheck = (message: ValidatedMessage) => Conformance

const contracts = new LRUCache<string, MessageCheck>({ max: 32 })

/** What schemas of GraphQL are held by is loaded with the first of them. */
async function checkBy(text: string, message: ValidatedMessage): Promise<MessageCheck> {
  if ('operations' in message) {
    const { openSchema, operationsConformance } = await import('./operations.ts')
    const schema = openSchema(text)
    return (one) => operationsConformance(asOperations(one), schema)
  }
  const contract = openContract(text)
  return (one) => conformanceOf(httpOf(one), contract)
}

async function validatorReply({ id, digest, contract: text, message }: Job): Promise<ValidatorReply> {
  const check = contracts.get(digest) ?? (text === null ? undefined : await checkBy(text, message))
  if (check === undefined) return { id, ok: false, isUnknown: true, why: 'the contract is not here' }
  contracts.set(digest, check)
  return { id, ok: true, value: check(message) }
}

function asOperations(message: ValidatedMessage): OperationsMessage {
  if ('operations' in message) return message
  throw new Error('the contract is a schema of GraphQL')
}

function httpOf(message: ValidatedMessage): HttpMessage {
  if (!('operations' in message)) return message
  throw new Error('the contract is not a schema of GraphQL')
}

async function replyTo(job: Job): Promise<ValidatorReply> {
  try {
    return await validatorReply(job)
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown'
    return { id: job.id, ok: false, isUnknown: false, why }
  }
}

parentPort?.on('message', (job: Job) => {
  void replyTo(job).then((reply) => parentPort?.postMessage(reply))
})
