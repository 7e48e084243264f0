/** What every form of a report is written from. */
import type { Level } from '../../engine/internal.ts'
import type { ReportedPair } from './annotation.ts'
import type { DiffReport } from './diff-report.ts'
import type { IgnoredGroup } from './ignore-list.ts'

export interface ReportContext {
  readonly report: DiffReport
  readonly documents: ReportedPair
  /** Empty where there is no ignore list. */
  readonly ignored: readonly IgnoredGroup[]
  /** The level at which the command fails; null: at none. */
  readonly failOn: Level | null
  readonly isColoured: boolean
  /** Of this program. */
  readonly version: string
}
