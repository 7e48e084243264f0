/** What the demo shows for its claims: metrics before and after, and receipts verified offline by the command line. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ENTRY = join(import.meta.dirname, '../../gateway/preflight.js')

/** Samples of the Prometheus text format, by `name{labels}`. */
export type Samples = ReadonlyMap<string, number>

export async function readMetrics(admin: string): Promise<Samples> {
  const text = await (await fetch(`${admin}/metrics`)).text()
  const samples = text.split('\n').flatMap((line): [string, number][] => {
    const match = /^(preflight_\S+?(?:\{.*\})?) (\S+)$/.exec(line)
    return match === null ? [] : [[match[1] ?? '', Number(match[2])]]
  })
  return new Map(samples)
}

/** Counters of the names given that moved between two readings. */
export function moved(
  before: Samples,
  after: Samples,
  names: readonly string[],
): readonly (readonly [string, number])[] {
  return [...after]
    .filter(([sample]) => names.some((name) => sample === name || sample.startsWith(`${name}{`)))
    .map(([sample, value]): [string, number] => [sample, value - (before.get(sample) ?? 0)])
    .filter(([, difference]) => difference > 0)
}

export interface OfflineVerification {
  /** 0 authorized, 1 not (docs/reference/command-line.md#exit-codes). */
  readonly exitCode: number | null
  readonly output: string
}

/** `preflight verify`, with a saved key set and nothing else: no gateway is asked. */
export function verifyOffline(token: string, keys: string, ...options: readonly string[]): OfflineVerification {
  const { status, stdout, stderr } = spawnSync(process.execPath, [ENTRY, 'verify', token, '--keys', keys, ...options], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  return { exitCode: status, output: `${stdout}${stderr}`.trim() }
}

/** The member at a path of names; undefined where there is none. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null
        ? Object.entries(inner).find(([key]) => key === name)?.[1]
        : undefined,
    value,
  )
}
