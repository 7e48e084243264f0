/**
 * A policy that is compiled when a decision first needs it. Compiling loads the expression language and the table of rules,
 * which an idle gateway does not need. Only for packs that are known to compile, and whose properties are known beforehand.
 */
import type { CompiledPolicy, PolicyOccasion } from '../../engine/internal.ts'

export type PolicyFacts = Pick<CompiledPolicy, 'name' | 'mode' | 'hash'>

/** @param compile called once; when it throws, the first decision fails with that error */
export function deferPolicy(facts: PolicyFacts, compile: () => CompiledPolicy): CompiledPolicy {
  return new DeferredPolicy(facts, compile)
}

class DeferredPolicy implements CompiledPolicy {
  readonly name
  readonly mode
  readonly hash
  readonly #compile: () => CompiledPolicy
  #compiled: CompiledPolicy | null = null

  constructor({ name, mode, hash }: PolicyFacts, compile: () => CompiledPolicy) {
    this.name = name
    this.mode = mode
    this.hash = hash
    this.#compile = compile
  }

  get #policy(): CompiledPolicy {
    return (this.#compiled ??= this.#compile())
  }

  get document() {
    return this.#policy.document
  }
  get onIncomplete() {
    return this.#policy.onIncomplete
  }
  get levels() {
    return this.#policy.levels
  }
  get deprecation() {
    return this.#policy.deprecation
  }
  get readsRoute() {
    return this.#policy.readsRoute
  }
  get readsConsumers() {
    return this.#policy.readsConsumers
  }
  get readsRelease() {
    return this.#policy.readsRelease
  }
  get historyWindow() {
    return this.#policy.historyWindow
  }
  get observes() {
    return this.#policy.observes
  }
  ttlSeconds(operation: string | null) {
    return this.#policy.ttlSeconds(operation)
  }
  expectsFingerprint(operation: string | null) {
    return this.#policy.expectsFingerprint(operation)
  }
  evaluator(occasion: PolicyOccasion) {
    return this.#policy.evaluator(occasion)
  }
  trace(occasion: PolicyOccasion) {
    return this.#policy.trace(occasion)
  }
  changeSetRulings(occasion: PolicyOccasion) {
    return this.#policy.changeSetRulings(occasion)
  }
  nextEdge(occasion: Parameters<CompiledPolicy['nextEdge']>[0]) {
    return this.#policy.nextEdge(occasion)
  }
}
