/** Settings of monitoring windows and of where telemetry goes. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { integer, period, strict } from '../settings/fields.ts'
import { SinkConfig } from '../telemetry/sinks/settings.ts'

export const MonitoringSettings = strict(
  {
    sinks: Type.Array(SinkConfig, {
      default: [{ type: 'log' }],
      description: 'Where execution telemetry goes. None wired: CONTINUE_WITH_MONITORING does not proceed.',
    }),
    window: period(900, 'A window nobody closed is closed as UNKNOWN after this'),
    spool: integer(10_000, 'Events kept on disk while no sink takes them; past that the sinks count as unwired'),
  },
  'Monitoring of calls that are forwarded and monitored.',
)
export type MonitoringSettings = Static<typeof MonitoringSettings>
