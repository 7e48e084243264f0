/**
 * Comparisons, hashes and large request bodies: on this thread when small, in a worker when large. Each comparison runs once
 * (LRU by content).
 */
import { LRUCache } from 'lru-cache'
import {
  byCodeUnit,
  canonicalJson,
  countFindings,
  DEFAULT_DOCUMENT_LIMITS,
  fail,
  hasFiles,
  lengthOf,
} from '../../engine/base.ts'
import type {
  Artifact,
  ChangeSetDigests,
  CompareOptions,
  Comparison,
  DocumentLimits,
  Result,
  CompiledPolicy,
} from '../../engine/internal.ts'
import type { LimitsConfig } from '../settings/limits.ts'
import { GatewayError } from '../errors/errors.ts'
import { REQUEST_LIMITS } from '../json/strict-json.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { CurrentFlowSettings } from './settings.ts'
import { createMemoryBudget, type MemoryBudget } from '../runtime/memory-budget.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Flow } from './flow.ts'
import { createPool, type Pool } from './pool.ts'
import { runTask, type TaskAnswers, type TaskKind, type TaskOf } from './task.ts'

interface AnalystDeps {
  readonly settings: CurrentFlowSettings
  /** Shared with the other users of much memory; absent: one of its own. */
  readonly memory?: MemoryBudget
  readonly metrics: Metrics
  readonly logger: Logger
}

export type Analyst = Pick<
  Flow,
  'compare' | 'digests' | 'sniff' | 'fileReferences' | 'bundle' | 'compose' | 'readJson' | 'close'
>

/**
 * Maximum number of findings in all cached comparisons together: one comparison of GitHub's API has as many as hundreds of
 * small ones.
 */
const CACHED_FINDINGS = 200_000

/** A caller's own regular expressions may run forever on the shortest text: they never run on this thread. */
function hasPattern({ match_path: included, unmatch_path: excluded }: CompareOptions): boolean {
  return (included ?? '') !== '' || (excluded ?? '') !== ''
}

/** Both sides together, code units: what is shorter is compared soon whatever it holds. */
const SHORT = 2048

/**
 * Keywords whose comparison takes longer than in proportion to the text: one schema is proven to include another, patterns are compared as
 * automata. Also escapes, by which a text may write such a word in other letters.
 */
const COMPOSED =
  /allOf|anyOf|oneOf|attern|depend|multipleOf|prefixItems|contains|propertyNames|unevaluated|discriminator|ynamicRef|recursiveRef|\\[uUx\r\n]|(?:^|\W)(?:not|if)["']?\s*:/

/** References and aliases: many of them to the same schemas are compared again at each place. */
const REFERENCE = /\$ref|(?:^|[\s[{,:-])\*\w/g
const MANY_REFERENCES = 64

function hasManyReferences(text: string): boolean {
  let count = 0
  for (const _ of text.matchAll(REFERENCE)) {
    count += 1
    if (count > MANY_REFERENCES) return true
  }
  return false
}

/** Comparisons that may hold the thread: a worker runs them, and is stopped after `limits.analysis`. */
function mayTakeLong(artifact: Artifact, options: CompareOptions, size: number): boolean {
  if (hasPattern(options)) return true
  if (size < SHORT) return false
  const { base = {}, head = {} } = options.files ?? {}
  const own = hasFiles(artifact) ? [JSON.stringify(artifact.files)] : []
  return [artifact.before, artifact.after, ...Object.values(base), ...Object.values(head), ...own].some(
    (text) => COMPOSED.test(text) || hasManyReferences(text),
  )
}

/** The limits of the configuration in the engine's terms. */
export function documentLimits({ limits }: LimitsConfig): DocumentLimits {
  return {
    maxLength: limits.artifact_side,
    maxDepth: limits.depth,
    maxAliases: limits.aliases,
    maxExpansion: limits.expansion,
  }
}

/** What the policy requires of deprecations. @param now milliseconds since the epoch */
export function compareOptions(
  { deprecation: { stableDays, betaDays } }: Pick<CompiledPolicy, 'deprecation'>,
  now: number,
): CompareOptions {
  return {
    today: new Date(now).toISOString().slice(0, 10),
    ...(stableDays > 0 && { deprecation_days_stable: stableDays }),
    ...(betaDays > 0 && { deprecation_days_beta: betaDays }),
  }
}

export function createAnalyst(deps: AnalystDeps): Analyst {
  return new PooledAnalyst(deps)
}

/** Small tasks run on this thread, large and hostile ones in the pool. */
class PooledAnalyst implements Analyst {
  readonly #deps: Omit<AnalystDeps, 'memory'>
  readonly #pool: Pool
  readonly #known: LRUCache<string, Comparison> | null
  readonly #running = new Map<string, Promise<Result<Comparison>>>()

  constructor({ memory = createMemoryBudget(), ...deps }: AnalystDeps) {
    const { analysis, limits } = deps.settings().config
    this.#deps = deps
    this.#pool = createPool({ workers: analysis.workers, queue: limits.queue, memory, logger: deps.logger })
    this.#known = createComparisonCache(analysis.cache)
  }

  compare(artifact: Artifact, options: CompareOptions): Promise<Result<Comparison>> {
    const bounded = { limits: this.#limits, ...options }
    const key = comparisonKey(artifact, bounded)
    const cached = this.#known?.get(key)
    const result = cached ? 'hit' : 'miss'
    this.#deps.metrics.count('preflight_cache_requests_total', { cache: 'comparison', result })
    if (cached) return Promise.resolve({ ok: true, value: cached })
    const running = this.#running.get(key)
    if (running) return running
    const comparison = this.#compareUnshared(artifact, bounded, key).finally(() => this.#running.delete(key))
    this.#running.set(key, comparison)
    return comparison
  }

  async digests(artifacts: readonly Artifact[]): Promise<ChangeSetDigests> {
    const size = artifacts.reduce((sum, artifact) => sum + lengthOf(artifact), 0)
    const digests = await this.#run('digest', { kind: 'digest', artifacts }, size)
    if (digests.ok) return digests.value
    // Without its identity a change set cannot be decided at all.
    if (digests.problem.code !== 'ANALYSIS_FAULT') throw new GatewayError('OVERLOADED', digests.problem.message)
    throw new GatewayError('INTERNAL', undefined, { cause: new Error(digests.problem.message) })
  }

  sniff(before: string, after: string): ReturnType<Analyst['sniff']> {
    return this.#run('sniff', { kind: 'sniff', before, after, limits: this.#limits }, before.length + after.length)
  }

  fileReferences(text: string): ReturnType<Analyst['fileReferences']> {
    return this.#run('references', { kind: 'references', text, limits: this.#limits }, text.length)
  }

  bundle(...[root, texts, site = null]: Parameters<Analyst['bundle']>): ReturnType<Analyst['bundle']> {
    const size = Object.values(texts).reduce((sum, text) => sum + text.length, 0)
    return this.#run('bundle', { kind: 'bundle', root, texts, site, limits: this.#limits }, size)
  }

  compose(...[baseline, candidate, operations]: Parameters<Analyst['compose']>): ReturnType<Analyst['compose']> {
    const size = baseline.length + candidate.length
    return this.#run('compose', { kind: 'compose', baseline, candidate, operations, limits: this.#limits }, size)
  }

  readJson(...[bytes, origin = 'request']: Parameters<Analyst['readJson']>): ReturnType<Analyst['readJson']> {
    const limits = bodyLimits(this.#deps.settings().config, origin)
    return this.#run('read', { kind: 'read', bytes, limits }, bytes.byteLength)
  }

  close(): ReturnType<Analyst['close']> {
    return this.#pool.close()
  }

  get #limits(): DocumentLimits {
    return documentLimits(this.#deps.settings().config)
  }

  async #run<Kind extends TaskKind>(
    kind: Kind,
    task: TaskOf<Kind>,
    size: number,
    isHostile = false,
  ): Promise<Result<TaskAnswers[Kind]>> {
    const { settings, logger } = this.#deps
    const { config } = settings()
    if (isHostile || size >= config.analysis.inline_below)
      return this.#pool.run(kind, task, size, config.limits.analysis * 1000)
    try {
      return runTask(kind, task)
    } catch (error) {
      // No content of a document may make the engine throw; when it does, the artifact counts as not analysed.
      logger.error({ event: 'analysis.failed', err: error, task: kind }, 'engine failed on a task')
      return fail({ code: 'ANALYSIS_FAULT', message: `The ${kind} task failed inside the gateway; the log says more.` })
    }
  }

  async #compareUnshared(artifact: Artifact, options: CompareOptions, key: string): Promise<Result<Comparison>> {
    const { metrics } = this.#deps
    const started = performance.now()
    const size = lengthOf(artifact) + sizeOfFiles(options)
    const result = await this.#run(
      'compare',
      { kind: 'compare', artifact, options },
      size,
      mayTakeLong(artifact, options, size),
    )
    metrics.observe('preflight_analysis_seconds', { type: artifact.type }, (performance.now() - started) / 1000)
    if (result.ok) this.#known?.set(key, result.value)
    else metrics.count('preflight_analysis_failures_total', { type: artifact.type })
    return result
  }
}

/** A request is JSON around contract texts: its own nesting is small, and the texts have limits of their own. */
function bodyLimits({ limits }: LimitsConfig, origin: 'request' | 'answer'): DocumentLimits {
  const { request_body: maxLength, depth: maxDepth } = limits
  return { ...DEFAULT_DOCUMENT_LIMITS, ...(origin === 'request' && REQUEST_LIMITS), maxLength, maxDepth }
}

/** The id of an artifact is not part of the key: the same pair under another name is the same comparison. */
function comparisonKey(artifact: Artifact, options: CompareOptions): string {
  const { type, before, after, path, files: own } = artifact
  const carried = hasFiles(artifact) ? sha256Hex(canonicalJson(own)) : ''
  const { files, ...rest } = options
  const further =
    files === undefined
      ? ''
      : sha256Hex(JSON.stringify([files.document ?? null, sorted(files.base), sorted(files.head)]))
  return [type, sha256Hex(before), sha256Hex(after), path ?? '', JSON.stringify(rest), further, carried].join('\0')
}

function sorted(files: Readonly<Record<string, string>>): readonly (readonly [path: string, text: string])[] {
  return Object.entries(files).sort(([a], [b]) => byCodeUnit(a, b))
}

function sizeOfFiles({ files }: CompareOptions): number {
  if (files === undefined) return 0
  return [files.base, files.head].reduce(
    (sum, side) => Object.values(side).reduce((size, text) => size + text.length, sum),
    0,
  )
}

function createComparisonCache(entries: number): LRUCache<string, Comparison> | null {
  if (entries === 0) return null
  return new LRUCache({
    max: entries,
    maxSize: CACHED_FINDINGS,
    sizeCalculation: (comparison) => 1 + countFindings(comparison.groups),
  })
}
