/**
 * What is exported to OpenTelemetry, and where: the configuration, overridden by the variables that every OpenTelemetry SDK
 * reads (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 */
import { hostname } from 'node:os'
import { percentDecoded } from '../../../engine/base.ts'
import { StartupError } from '../../errors/startup-error.ts'
import { variable, type Environment } from '../../settings/environment.ts'
import type { OtelSettings } from './settings.ts'

export interface OtlpTarget {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds for one request. */
  readonly timeout: number
  readonly form: 'protobuf' | 'json'
}

export interface SamplerTerms {
  readonly ratio: number
  readonly followsParent: boolean
}

export interface BatchTerms {
  readonly scheduledDelayMillis: number
  readonly maxQueueSize: number
  readonly maxExportBatchSize: number
}

export interface OtelTerms {
  readonly traces: OtlpTarget | null
  readonly metrics: (OtlpTarget & { readonly interval: number }) | null
  readonly sampler: SamplerTerms
  readonly batch: BatchTerms
  /** Attributes of the resource, without those of the gateway itself. */
  readonly resource: Readonly<Record<string, string>>
}

const DEFAULT_TIMEOUT_MS = 10_000

/** Throws a StartupError for a variable with a value that cannot be followed. */
export function otelTerms(settings: OtelSettings, environment: Environment): OtelTerms {
  const isOff = variable(environment, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true'
  const target = (signal: 'traces' | 'metrics'): OtlpTarget | null =>
    !isOff && isExported(signal, settings, environment) ? exportTarget(signal, settings, environment) : null
  const metrics = target('metrics')
  const interval = countVariable(environment, 'OTEL_METRIC_EXPORT_INTERVAL', settings.interval * 1000)
  return {
    traces: target('traces'),
    metrics: metrics === null ? null : { ...metrics, interval },
    sampler: samplerTerms(settings, environment),
    batch: {
      scheduledDelayMillis: countVariable(environment, 'OTEL_BSP_SCHEDULE_DELAY', 5000),
      maxQueueSize: countVariable(environment, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048),
      maxExportBatchSize: countVariable(environment, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
    },
    resource: resourceOf(environment),
  }
}

/** `OTEL_METRICS_EXPORTER=otlp` and the like. An SDK exports both by default; here metrics are scraped unless asked for. */
function isExported(signal: 'traces' | 'metrics', settings: OtelSettings, environment: Environment): boolean {
  const name = `OTEL_${signal.toUpperCase()}_EXPORTER`
  const exporter = variable(environment, name)
  if (exporter === null) return settings[signal]
  if (exporter !== 'otlp' && exporter !== 'none') throw unusable(name, exporter, 'otlp or none')
  return exporter === 'otlp'
}

function exportTarget(
  signal: 'traces' | 'metrics',
  settings: OtelSettings,
  environment: Environment,
): OtlpTarget | null {
  const upper = signal.toUpperCase()
  const stated = (name: string): string | null =>
    variable(environment, `OTEL_EXPORTER_OTLP_${upper}_${name}`) ?? variable(environment, `OTEL_EXPORTER_OTLP_${name}`)
  const whole = variable(environment, `OTEL_EXPORTER_OTLP_${upper}_ENDPOINT`)
  const base = variable(environment, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? settings.endpoint ?? null
  // The address of one signal is used as it is; a shared one is the base of both.
  const url = whole ?? (base === null ? null : `${base.replace(/\/+$/, '')}/v1/${signal}`)
  if (url === null) return null
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw unusable('OTEL_EXPORTER_OTLP_ENDPOINT', url, 'http(s)://HOST[:PORT][/PATH]')
  const protocol = stated('PROTOCOL') ?? settings.protocol
  if (protocol !== 'http/protobuf' && protocol !== 'http/json')
    throw unusable('OTEL_EXPORTER_OTLP_PROTOCOL', protocol, 'http/protobuf or http/json')
  const headers = stated('HEADERS')
  const timeout = stated('TIMEOUT')
  return {
    url,
    headers: { ...settings.headers, ...(headers === null ? {} : keyValuePairs(headers)) },
    timeout: timeout === null ? DEFAULT_TIMEOUT_MS : numberOf('OTEL_EXPORTER_OTLP_TIMEOUT', timeout),
    form: protocol === 'http/json' ? 'json' : 'protobuf',
  }
}

const SAMPLERS: Readonly<Record<string, (ratio: number) => SamplerTerms>> = {
  always_on: () => ({ ratio: 1, followsParent: false }),
  always_off: () => ({ ratio: 0, followsParent: false }),
  traceidratio: (ratio) => ({ ratio, followsParent: false }),
  parentbased_always_on: () => ({ ratio: 1, followsParent: true }),
  parentbased_always_off: () => ({ ratio: 0, followsParent: true }),
  parentbased_traceidratio: (ratio) => ({ ratio, followsParent: true }),
}

function samplerTerms(settings: OtelSettings, environment: Environment): SamplerTerms {
  const name = variable(environment, 'OTEL_TRACES_SAMPLER')
  if (name === null) return { ratio: settings.ratio, followsParent: settings.follow_parent }
  const argument = variable(environment, 'OTEL_TRACES_SAMPLER_ARG')
  const ratio = argument === null ? 1 : Number(argument)
  if (!(ratio >= 0 && ratio <= 1)) throw unusable('OTEL_TRACES_SAMPLER_ARG', argument ?? '', 'a number from 0 to 1')
  const sampler = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined
  if (sampler === undefined) throw unusable('OTEL_TRACES_SAMPLER', name, Object.keys(SAMPLERS).join(', '))
  return sampler(ratio)
}

/** The chart sets POD_NAME and POD_NAMESPACE; a cluster has no name of its own, so OTEL_RESOURCE_ATTRIBUTES gives it. */
function resourceOf(environment: Environment): Readonly<Record<string, string>> {
  const pod = variable(environment, 'POD_NAME')
  const namespace = variable(environment, 'POD_NAMESPACE')
  const stated = variable(environment, 'OTEL_RESOURCE_ATTRIBUTES')
  const service = variable(environment, 'OTEL_SERVICE_NAME')
  return {
    'service.name': 'preflight-gateway',
    'service.instance.id': pod ?? hostname(),
    ...(pod !== null && { 'k8s.pod.name': pod }),
    ...(namespace !== null && { 'k8s.namespace.name': namespace }),
    ...(stated !== null && keyValuePairs(stated)),
    ...(service !== null && { 'service.name': service }),
  }
}

/** `key=value,key=value` with percent-encoded values (W3C Baggage §3.3.1). A pair without a key is left out. */
function keyValuePairs(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').flatMap((pair) => {
    const equals = pair.indexOf('=')
    return equals < 1 ? [] : [[pair.slice(0, equals).trim(), percentDecoded(pair.slice(equals + 1).trim())] as const]
  })
  return Object.fromEntries(pairs)
}

function countVariable(environment: Environment, name: string, fallback: number): number {
  const value = variable(environment, name)
  return value === null ? fallback : numberOf(name, value)
}

function numberOf(name: string, value: string): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number) || number < 1) throw unusable(name, value, 'a whole number of at least 1')
  return number
}

function unusable(name: string, value: string, wanted: string): StartupError {
  return new StartupError(`${name} is "${value}". Set it to ${wanted}.`)
}
