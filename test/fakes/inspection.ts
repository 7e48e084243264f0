/** What a gateway without listeners shows of itself: an API under test has no process around it. */
import type { GatewayStatus, Inspection } from '../../gateway/telemetry/inspection.ts'

const STATUS: GatewayStatus = {
  version: '0.0.0',
  node: process.version,
  pid: process.pid,
  started_at: '2026-01-01T00:00:00.000Z',
  ready: true,
  checks: {},
  problems: [],
  tier: 'api',
  addresses: {},
  settings: { generation: 1, policy: 'default', policy_hash: '', mistakes: 0, restart: [], log_level: 'info' },
  store: 'memory',
  key_id: '',
  calls: { open: 0, held: 0 },
  routes: [],
  approvals: { pending: 0, oldest_at: null },
  break_glass: [],
  sinks: [],
  windows: 0,
  memory: { resident_bytes: 0, budget_bytes: 0, budget_held_bytes: 0, budget_waiting: 0 },
}

export function fakeInspection(): Pick<Inspection, 'status' | 'logLevel' | 'setLogLevel'> {
  let level = 'info'
  return {
    status: () => Promise.resolve(STATUS),
    logLevel: () => level,
    setLogLevel: (next) => {
      level = next
    },
  }
}
