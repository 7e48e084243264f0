/** What a running gateway shows of itself: the shape of its status, and the pages of its admin listener. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'

const textOrNull = Type.Union([Type.String(), Type.Null()])

export const GatewayStatus = Type.Object(
  {
    version: Type.String(),
    node: Type.String(),
    pid: Type.Integer(),
    started_at: Type.String({ format: 'date-time' }),
    ready: Type.Boolean(),
    checks: Type.Record(Type.String(), Type.Object({ ready: Type.Boolean(), detail: Type.Optional(Type.String()) }), {
      description: 'The checks of /readyz.',
    }),
    problems: Type.Array(Type.String(), { description: 'What needs a person, the most urgent first. Empty: nothing.' }),
    tier: Type.String(),
    addresses: Type.Record(Type.String(), Type.String(), { description: 'Listeners by name.' }),
    settings: Type.Object({
      generation: Type.Integer(),
      policy: Type.String(),
      policy_hash: Type.String(),
      mistakes: Type.Integer({ description: 'Mistakes of the files on disk, which therefore are not in force.' }),
      restart: Type.Array(Type.String(), { description: 'Changed settings that wait for a restart.' }),
      log_level: Type.String(),
    }),
    store: Type.String(),
    key_id: Type.String(),
    calls: Type.Object({ open: Type.Integer(), held: Type.Integer() }),
    routes: Type.Array(
      Type.Object({
        name: Type.String(),
        protocol: Type.String(),
        mode: Type.String(),
        calls: Type.Record(Type.String(), Type.Integer(), {
          description: 'Calls since the start by outcome, as preflight_calls_total counts them.',
        }),
        baseline_set_at: textOrNull,
        candidate: Type.Boolean({ description: 'A changed contract waits for review.' }),
        suspended: Type.Boolean({ description: 'A break-glass exception is open.' }),
      }),
    ),
    approvals: Type.Object({
      pending: Type.Integer({ description: 'Of all tenants; 0 on a sidecar of a hub.' }),
      oldest_at: textOrNull,
    }),
    break_glass: Type.Array(
      Type.Object({ id: Type.String(), route: Type.String(), until: Type.String(), reason: Type.String() }),
    ),
    sinks: Type.Array(
      Type.Object({ name: Type.String(), wired: Type.Boolean(), queued: Type.Integer(), detail: Type.String() }),
    ),
    windows: Type.Integer({ description: 'Monitoring windows open now.' }),
    memory: Type.Object({
      resident_bytes: Type.Integer(),
      budget_bytes: Type.Integer(),
      budget_held_bytes: Type.Integer(),
      budget_waiting: Type.Integer(),
    }),
  },
  { title: 'GatewayStatus' },
)
export type GatewayStatus = Static<typeof GatewayStatus>

export const DEBUG_PAGES = ['routes', 'baselines', 'verdicts', 'pools', 'windows', 'spool', 'memory', 'store'] as const
export type DebugPage = (typeof DEBUG_PAGES)[number]

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

export interface Inspection {
  status(): Promise<GatewayStatus>
  /** The settings in force, without credentials. */
  config(): object
  debug(page: DebugPage): Promise<object>
  logLevel(): string
  /** Until a reload or a restart. @param by who asked, for the log */
  setLogLevel(level: LogLevel, by: string): void
}
