/**
 * Counters that alarms ask about begin at 0. A series that appears with its first event has no increase yet, so the alarm
 * would miss the one call that failed open, or the first refused delivery.
 */
import type { Route } from '../routing/route.ts'
import type { Metrics } from './metrics.ts'

interface AlertedConfig {
  readonly routes: readonly Route[]
  readonly notifications: { readonly channels: readonly { readonly name: string }[] }
}

/** Each adds nothing to a counter that is there already. */
export function startAlertedCounters(metrics: Metrics, { routes, notifications }: AlertedConfig): void {
  for (const { name } of notifications.channels)
    metrics.count('preflight_notifications_total', { channel: name, result: 'given_up' }, 0)
  metrics.count('preflight_store_failures_total', { operation: 'decisions.record' }, 0)
  metrics.count('preflight_store_failures_total', { operation: 'recordInterceptions' }, 0)
  metrics.count('preflight_decision_log_entries_total', { result: 'lost' }, 0)
  metrics.count('preflight_metric_overflows_total', { metric: 'preflight_calls_total' }, 0)
  for (const trafficPath of ['forward', 'connect', 'redirect'])
    metrics.count('preflight_egress_denials_total', { traffic_path: trafficPath, reason: 'metadata' }, 0)
  for (const platform of ['scm_a', 'scm_b', 'scm_c'])
    metrics.count('preflight_merge_checks_total', { platform, result: 'given_up' }, 0)
  for (const route of routes) startCountersOf(route, metrics)
}

function startCountersOf({ name: route, validate, protocol }: Route, metrics: Metrics): void {
  for (const outcome of ['forwarded', 'stopped', 'undecided', 'failed_open', 'break_glass'])
    metrics.count('preflight_calls_total', { route, outcome }, 0)
  metrics.count('preflight_break_glass_calls_total', { route }, 0)
  metrics.count('preflight_call_records_refused_total', { route }, 0)
  for (const result of ['signature_mismatch', 'body_hash_mismatch'])
    metrics.count('preflight_receipts_presented_total', { route, result }, 0)
  if (validate !== 'off')
    metrics.count('preflight_contract_checks_total', { route, side: 'answer', result: 'violates' }, 0)
  if (protocol === 'kubernetes') metrics.count('preflight_written_objects_total', { route, result: 'differs' }, 0)
}

/** @param sink its name, as in the other metrics about it */
export function startSinkCounters(metrics: Metrics, sink: string): void {
  metrics.count('preflight_sink_delivery_failures_total', { sink }, 0)
  for (const result of ['rejected', 'refused']) metrics.count('preflight_sink_events_total', { sink, result }, 0)
}
