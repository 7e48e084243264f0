/** The rules of a route's `map`, compiled: every expression once, every mistake with the place of its text. */
import { engine } from '../../loading/lazy-engine.ts'
import { ok, appendPointer } from '../../../engine/base.ts'
import type { ArtifactType, RequestExpression, RequestField, Result } from '../../../engine/internal.ts'
import type { MappedText, MapRule } from './request-map.ts'

interface MapMistake {
  /** Within the list of rules (RFC 6901). */
  readonly pointer: string
  readonly message: string
  readonly fix: string
}

/** Where one side of an artifact comes from. */
export type TextSource =
  | { readonly kind: 'value'; readonly value: RequestExpression }
  | { readonly kind: 'path'; readonly path: RequestExpression }
  | { readonly kind: 'url'; readonly url: string }

const PLACES = ['repository', 'branch', 'pull_request', 'base', 'head'] as const
type PlaceName = (typeof PLACES)[number]

/** What the request is about, for those that are judged. */
export interface CompiledResource {
  readonly target: RequestExpression
  readonly operation: string | null
  readonly places: ReadonlyMap<PlaceName, RequestExpression>
}

export type CompiledEffect =
  | { readonly kind: 'pass' }
  | { readonly kind: 'deny'; readonly message: string | null }
  | { readonly kind: 'receipt'; readonly resource: CompiledResource }
  | {
      readonly kind: 'judge'
      readonly resource: CompiledResource
      readonly type: ArtifactType
      readonly before: TextSource
      readonly after: TextSource
    }

export interface CompiledMapping {
  /** Null: every request. */
  readonly when: RequestExpression | null
  readonly effect: CompiledEffect
  /** Members of the request that the effect reads; those of the condition are its own. */
  readonly reads: ReadonlySet<RequestField>
  /** Names of members that condition and effect may read. */
  readonly names: ReadonlySet<string>
  /** They go over members, so that any name may count. */
  readonly hasLoops: boolean
  /** Its condition may distinguish a path with a slash at its end. */
  readonly countsEnd: boolean
}

/** All mistakes, or the rules in their order. */
export function compileRules(rules: readonly MapRule[]): Result<readonly CompiledMapping[], readonly MapMistake[]> {
  const compiler = new Compiler()
  const compiled = rules.map((rule, index) => compiler.rule(rule, `/${index}`))
  return compiler.mistakes.length === 0 ? ok(compiled) : { ok: false, problem: compiler.mistakes }
}

class Compiler {
  readonly mistakes: MapMistake[] = []
  #expressions: RequestExpression[] = []

  rule(rule: MapRule, pointer: string): CompiledMapping {
    const when = rule.when === undefined ? null : this.#expression(rule.when, appendPointer(pointer, 'when'))
    this.#expressions = []
    const effect = this.#effect(rule, pointer)
    const all = when === null ? this.#expressions : [when, ...this.#expressions]
    return {
      when,
      effect,
      reads: new Set(this.#expressions.flatMap(({ reads }) => [...reads])),
      names: new Set(all.flatMap(({ names }) => [...names])),
      hasLoops: all.some(({ hasLoops }) => hasLoops),
      countsEnd: /\/['"]|matches|size/.test(rule.when ?? ''),
    }
  }

  #effect(rule: MapRule, pointer: string): CompiledEffect {
    const { action, artifact } = rule
    if (artifact !== undefined && action !== 'judge')
      this.#say(
        appendPointer(pointer, 'artifact'),
        `an artifact is compared by the action judge, and this is ${action}`,
        'remove one',
      )
    if (action === 'pass') return { kind: 'pass' }
    if (action === 'deny') return { kind: 'deny', message: rule.message ?? null }
    const resource = this.#resource(rule, pointer)
    if (action === 'receipt') return { kind: 'receipt', resource }
    if (artifact === undefined) {
      this.#say(pointer, 'there is nothing to judge', 'name the contract that the request changes: artifact')
      return { kind: 'receipt', resource }
    }
    const place = appendPointer(pointer, 'artifact')
    const before = this.#source(artifact.before, appendPointer(place, 'before'))
    const after = this.#source(artifact.after, appendPointer(place, 'after'))
    return { kind: 'judge', resource, type: artifact.type, before, after }
  }

  #resource(rule: MapRule, pointer: string): CompiledResource {
    if (rule.target === undefined)
      this.#say(
        pointer,
        `the target of the ${rule.action === 'judge' ? 'decision' : 'receipt'} is missing`,
        'add target: an expression that names what the request changes',
      )
    const target = this.#expression(rule.target ?? '""', appendPointer(pointer, 'target'))
    const places = new Map<PlaceName, RequestExpression>()
    for (const name of PLACES) {
      const source = rule[name]
      if (source !== undefined) places.set(name, this.#expression(source, appendPointer(pointer, name)))
    }
    return { target, operation: rule.operation ?? null, places }
  }

  #source(text: MappedText, pointer: string): TextSource {
    if (typeof text === 'string') return { kind: 'value', value: this.#expression(text, pointer) }
    if ('url' in text) return { kind: 'url', url: text.url }
    return { kind: 'path', path: this.#expression(text.path, appendPointer(pointer, 'path')) }
  }

  /** A stand-in for one that is wrong: the rules are not used then. */
  #expression(source: string, pointer: string): RequestExpression {
    const compiled = engine().compileRequestExpression(source)
    if (!compiled.ok) this.#say(pointer, `the expression ${compiled.problem}`, '')
    const expression = compiled.ok ? compiled.value : NOTHING
    this.#expressions.push(expression)
    return expression
  }

  #say(pointer: string, message: string, fix: string): void {
    this.mistakes.push({ pointer, message, fix })
  }
}

const NOTHING: RequestExpression = {
  reads: new Set(),
  names: new Set(),
  hasLoops: false,
  isCaseSensitive: false,
  testFolded: () => ({ ok: false, problem: 'it was not compiled' }),
  test: () => ({ ok: false, problem: 'it was not compiled' }),
  evaluate: () => ({ ok: false, problem: 'it was not compiled' }),
}
