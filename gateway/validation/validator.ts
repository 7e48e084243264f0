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
  return new CheckingThread(timeout)
}

class CheckingThread implements Validator {
  readonly #timeout: () => number
  readonly #waiting = new Map<number, WaitingMessage>()
  /** Digests of the contracts that the thread has. */
  readonly #sent = new Set<string>()
  #worker: Worker | null = null
  #lastId = 0

  constructor(timeout: () => number) {
    this.#timeout = timeout
  }

  check(contract: WaitingMessage['contract'], message: ValidatedMessage): Promise<Conformance> {
    if (this.#waiting.size >= MAX_WAITING) return Promise.reject(new Error(`${MAX_WAITING} checks wait already`))
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1)
      const limit = this.#timeout()
      const timer = setTimeout(() => void this.#end(`a check took longer than ${limit} ms`), limit)
      const one = { contract, message, resolve, reject, timer }
      this.#waiting.set(id, one)
      this.#post(id, one)
    })
  }

  close(): Promise<void> {
    return this.#end('the gateway stops')
  }

  async #end(why: string): Promise<void> {
    const ending = this.#worker
    this.#worker = null
    this.#sent.clear()
    for (const [id, one] of this.#waiting) {
      clearTimeout(one.timer)
      this.#waiting.delete(id)
      one.reject(new Error(why))
    }
    await ending?.terminate()
  }

  #post(id: number, { contract, message }: WaitingMessage): void {
    const isSent = this.#sent.has(contract.digest)
    this.#sent.add(contract.digest)
    const job: Job = { id, digest: contract.digest, contract: isSent ? null : contract.content, message }
    this.#worker ??= this.#start()
    this.#worker.postMessage(job)
  }

  #finish(reply: ValidatorReply): void {
    const one = this.#waiting.get(reply.id)
    if (one === undefined) return
    if (!reply.ok && reply.isUnknown && this.#sent.delete(one.contract.digest)) return this.#post(reply.id, one)
    this.#waiting.delete(reply.id)
    clearTimeout(one.timer)
    if (reply.ok) one.resolve(reply.value)
    else one.reject(new Error(reply.why))
  }

  #start(): Worker {
    const started = new Worker(THREAD, { workerData: { module: CHECKER } })
    started.unref()
    started.on('message', (reply: ValidatorReply) => this.#finish(reply))
    started.on('error', (error) => void (this.#worker === started && this.#end(error.message)))
    started.on('exit', () => void (this.#worker === started && this.#end('the checking thread ended')))
    return started
  }
}
