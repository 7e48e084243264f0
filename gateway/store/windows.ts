/** Monitoring windows: forwarded calls whose outcome is still to come. */

export interface MonitoringWindowRow {
  readonly windowId: string
  /** Chosen by the caller: several windows may have the same one. */
  readonly correlationId: string
  readonly decisionId: string
  readonly tenant: string
  readonly route: string | null
  /** Who reports the outcome. */
  readonly observer: 'gateway' | 'caller'
  readonly openedAt: number
  readonly closedAt: number | null
  readonly outcome: string | null
}

export interface Windows {
  /** May be repeated. Rejects with a RefusedRowError when another window has this id. */
  open(row: MonitoringWindowRow): Promise<void>
  /** False when no window by this id is open. */
  close(windowId: string, outcome: string, at: number): Promise<boolean>
  /** Oldest first. */
  listOpen(): Promise<readonly MonitoringWindowRow[]>
}
