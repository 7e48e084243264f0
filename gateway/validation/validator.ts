/** Asks the checking thread, which starts when it is first needed. Each check has a time limit, and the number that wait is bounded. */
import { Worker } from 'node:worker_threads'
import type { Conformance, Job, ValidatedMessage, ValidatorReply } from './message.ts'

export interface Validator {
  /** Rejects without a result: the contract cannot be compiled, the check took too long, or too many checks wait. */
  check(
    contract: { readonly digest: string; readonly content: string },
    message: ValidatedMessage,
  ): Promise<Conformance>
  close(): Promise<void>
}

interface WaitingMessage {
  readonly contract: { readonly digest: string; readonly content: string }
  readonly message: ValidatedMessage
  readonly resolve: (value: Conformance) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/** Maximum number of checks without an answer. */
const MAX_WAITING = 1000

const THREAD = new URL('../runtime/thread.js', import.meta.url)
/** `.ts` in the sources, `.js` in the package. */
const CHECKER = new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href

/** @param timeout of one check, in milliseconds; a check over it ends the thread, and with it all that waits there */
export function createValidator(timeout: () => number): Validator {
  const waiting = new Map<number, WaitingMessage>()
  const sent = new Set<string>()
  let worker: Worker | null = null
  let next = 0

  const end = async (why: string): Promise<void> => {
    const ending = worker
    worker = null
    sent.clear()
    for (const [id, one] of waiting) {
      clearTimeout(one.timer)
      waiting.delete(id)
      one.reject(new Error(why))
    }
    await ending?.terminate()
  }
  const post = (id: number, { contract, message }: WaitingMessage): void => {
    const isSent = sent.has(contract.digest)
    sent.add(contract.digest)
    const job: Job = { id, digest: contract.digest, contract: isSent ? null : contract.content, message }
    worker ??= start()
    worker.postMessage(job)
  }
  const finish = (reply: ValidatorReply): void => {
    const one = waiting.get(reply.id)
    if (one === undefined) return
    if (!reply.ok && reply.isUnknown && sent.delete(one.contract.digest)) return post(reply.id, one)
    waiting.delete(reply.id)
    clearTimeout(one.timer)
    if (reply.ok) one.resolve(reply.value)
    else one.reject(new Error(reply.why))
  }
  const start = (): Worker => {
    const started = new Worker(THREAD, { workerData: { module: CHECKER } })
    started.unref()
    started.on('message', finish)
    started.on('error', (error) => void (worker === started && end(error.message)))
    started.on('exit', () => void (worker === started && end('the checking thread ended')))
    return started
  }

  return {
    check(contract, message) {
      if (waiting.size >= MAX_WAITING) return Promise.reject(new Error(`${MAX_WAITING} checks wait already`))
      return new Promise((resolve, reject) => {
        const id = (next += 1)
        const timer = setTimeout(() => void end(`a check took longer than ${timeout()} ms`), timeout())
        const one = { contract, message, resolve, reject, timer }
        waiting.set(id, one)
        post(id, one)
      })
    },
    close: () => end('the gateway stops'),
  }
}
