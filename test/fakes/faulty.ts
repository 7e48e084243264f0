/** Things whose nth use fails: for tests that let every step of a path fail once. */

/** Counts uses of everything that was made with it. */
export class FaultCounter {
  /** Uses so far. */
  uses = 0
  /** The use that fails, from 1; 0: none. */
  readonly failAt: number
  /** Name of what failed; null while nothing has. */
  failed: string | null = null

  constructor(failAt: number) {
    this.failAt = failAt
  }

  /** @throws at the use that is to fail */
  use(name: string): void {
    this.uses += 1
    if (this.uses !== this.failAt) return
    this.failed = name
    throw new Error(`the fault that was asked for, in ${name}`)
  }
}

/** The same object; each call of a method is a use. A method that answers a promise rejects, any other throws. */
export function faulty<T extends object>(target: T, counter: FaultCounter, prefix = ''): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name)
      if (isAggregate(value)) return faulty(value, counter, `${String(name)}.`)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        const isAsync = isLikelyAsync(target, name)
        try {
          counter.use(prefix + String(name))
        } catch (error) {
          if (isAsync) return Promise.reject(error)
          throw error
        }
        return Reflect.apply(value, target, args)
      }
    },
  })
}

/** The same values; each reading of a member is a use. */
export function faultyMembers<T extends object>(target: T, counter: FaultCounter): T {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === 'string') counter.use(name)
      return Reflect.get(target, name)
    },
  })
}

/** The methods of a store are in its aggregates. */
function isAggregate(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && Object.values(value).some((member) => typeof member === 'function')
  )
}

/** Metrics and signers are synchronous; everything else here is a store. */
function isLikelyAsync(target: object, name: string | symbol): boolean {
  return !('sample' in target) && name !== 'sign'
}
