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
} from '../../engine/internal.ts'
import type { LimitsConfig } from '../settings/limits.ts'
import { GatewayError } from '../errors/errors.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { CurrentFlowSettings } from './settings.ts'
import { createMemoryBudget, type MemoryBudget } from '../runtime/memory-budget.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Flow } from './flow.ts'
import { createPool } from './pool.ts'
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

/** The limits of the configuration in the engine's terms. */
export function documentLimits({ limits }: LimitsConfig): DocumentLimits {
  return {
    maxLength: limits.artifact_side,
    maxDepth: limits.depth,
    maxAliases: limits.aliases,
    maxExpansion: limits.expansion,
  }
}

export function createAnalyst({ settings, memory = createMemoryBudget(), metrics, logger }: AnalystDeps): Analyst {
  const { analysis, limits } = settings().config
  const pool = createPool({ workers: analysis.workers, queue: limits.queue, memory, logger })
  const known = createComparisonCache(analysis.cache)
  const running = new Map<string, Promise<Result<Comparison>>>()

  const run = async <Kind extends TaskKind>(
    kind: Kind,
    task: TaskOf<Kind>,
    size: number,
    isHostile = false,
  ): Promise<Result<TaskAnswers[Kind]>> => {
    const { config } = settings()
    if (isHostile || size >= config.analysis.inline_below)
      return pool.run(kind, task, size, config.limits.analysis * 1000)
    try {
      return runTask(kind, task)
    } catch (error) {
      // No content of a document may make the engine throw; when it does, the artifact counts as not analysed.
      logger.error({ event: 'analysis.failed', err: error, task: kind }, 'engine failed on a task')
      return fail({ code: 'ANALYSIS_FAULT', message: `The ${kind} task failed inside the gateway; the log says more.` })
    }
  }

  const compareNow = async (artifact: Artifact, options: CompareOptions, key: string): Promise<Result<Comparison>> => {
    const started = performance.now()
    const size = lengthOf(artifact) + sizeOfFiles(options)
    const result = await run('compare', { kind: 'compare', artifact, options }, size, hasPattern(options))
    metrics.observe('preflight_analysis_seconds', { type: artifact.type }, (performance.now() - started) / 1000)
    if (result.ok) known?.set(key, result.value)
    else metrics.count('preflight_analysis_failures_total', { type: artifact.type })
    return result
  }

  return {
    compare(artifact, options) {
      const bounded = { limits: documentLimits(settings().config), ...options }
      const key = comparisonKey(artifact, bounded)
      const cached = known?.get(key)
      metrics.count('preflight_cache_requests_total', { cache: 'comparison', result: cached ? 'hit' : 'miss' })
      if (cached) return Promise.resolve({ ok: true, value: cached })
      const sameNow = running.get(key)
      if (sameNow) return sameNow
      const comparison = compareNow(artifact, bounded, key).finally(() => running.delete(key))
      running.set(key, comparison)
      return comparison
    },
    async digests(artifacts): Promise<ChangeSetDigests> {
      const size = artifacts.reduce((sum, artifact) => sum + lengthOf(artifact), 0)
      const digests = await run('digest', { kind: 'digest', artifacts }, size)
      if (digests.ok) return digests.value
      // Without its identity a change set cannot be decided at all.
      if (digests.problem.code !== 'ANALYSIS_FAULT')
        throw new GatewayError('OVERLOADED', digests.problem.message, { headers: { 'Retry-After': '1' } })
      throw new GatewayError('INTERNAL', undefined, { cause: new Error(digests.problem.message) })
    },
    sniff: (before, after) => {
      const limits = documentLimits(settings().config)
      return run('sniff', { kind: 'sniff', before, after, limits }, before.length + after.length)
    },
    fileReferences: (text) =>
      run('references', { kind: 'references', text, limits: documentLimits(settings().config) }, text.length),
    bundle: (root, texts, site = null) => {
      const size = Object.values(texts).reduce((sum, text) => sum + text.length, 0)
      return run('bundle', { kind: 'bundle', root, texts, site, limits: documentLimits(settings().config) }, size)
    },
    compose: (baseline, candidate, operations) => {
      const limits = documentLimits(settings().config)
      const size = baseline.length + candidate.length
      return run('compose', { kind: 'compose', baseline, candidate, operations, limits }, size)
    },
    readJson: (bytes) =>
      run('read', { kind: 'read', bytes, limits: requestLimits(settings().config) }, bytes.byteLength),
    close: () => pool.close(),
  }
}

/** A request is JSON around contract texts: its own nesting is small, and the texts have limits of their own. */
function requestLimits({ limits }: LimitsConfig): DocumentLimits {
  return { ...DEFAULT_DOCUMENT_LIMITS, maxLength: limits.request_body, maxDepth: limits.depth }
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
