/** What a bench says: markdown tables on stdout, and checks of ratios against bench/thresholds.yaml. Ratios within one run, never absolute times. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export interface Check {
  /** Name in thresholds.yaml. */
  readonly threshold: string
  readonly measured: number
}

/** What a section brings: its tables and notes as markdown, and the ratios that are compared with thresholds. */
export interface Section {
  readonly markdown: string
  readonly checks: readonly Check[]
}

export interface Threshold {
  readonly what: string
  readonly atLeast: number | null
  readonly atMost: number | null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function readThresholds(): ReadonlyMap<string, Threshold> {
  const parsed: unknown = parse(readFileSync(join(import.meta.dirname, 'thresholds.yaml'), 'utf8'))
  if (!isRecord(parsed)) throw new TypeError('thresholds.yaml is no map')
  return new Map(
    Object.entries(parsed).map(([name, row]) => {
      if (!isRecord(row) || typeof row['what'] !== 'string')
        throw new TypeError(`thresholds.yaml: ${name} says not what`)
      const bound = (member: string): number | null => {
        const value = row[member]
        return typeof value === 'number' ? value : null
      }
      const threshold = { what: row['what'], atLeast: bound('at_least'), atMost: bound('at_most') }
      if (threshold.atLeast === null && threshold.atMost === null)
        throw new TypeError(`thresholds.yaml: ${name} bounds nothing`)
      return [name, threshold]
    }),
  )
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** A markdown table; the first column is left, the rest right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), row(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(row)].join('\n')
}

export function isMet(measured: number, { atLeast, atMost }: Threshold): boolean {
  return (
    Number.isFinite(measured) && (atLeast === null || measured >= atLeast) && (atMost === null || measured <= atMost)
  )
}

/** The table of checks, and whether all are met. A check without a threshold is a mistake of the bench. */
export function judge(checks: readonly Check[]): { readonly markdown: string; readonly met: boolean } {
  const thresholds = readThresholds()
  const judged = checks.map(({ threshold: name, measured }) => {
    const threshold = thresholds.get(name)
    if (threshold === undefined) throw new Error(`bench/thresholds.yaml has no ${name}`)
    const bound = threshold.atLeast === null ? `≤ ${threshold.atMost}` : `≥ ${threshold.atLeast}`
    const met = isMet(measured, threshold)
    return { met, cells: [threshold.what, bound, measured.toFixed(2), met ? 'met' : 'MISSED'] }
  })
  return {
    markdown: table(
      ['ratio', 'threshold', 'measured', ''],
      judged.map(({ cells }) => cells),
    ),
    met: judged.every(({ met }) => met),
  }
}

export const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)
export const milliseconds = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
