/**
 * The counting modules of prom-client, imported one by one. The whole package also loads a push gateway, with HTTPS and all
 * root certificates, and default metrics, with OpenTelemetry: 80 modules that nothing here calls. The types are its own.
 */
import { createRequire } from 'node:module'
import type {
  Counter as PrometheusCounter,
  Gauge as PrometheusGauge,
  Histogram as PrometheusHistogram,
  Registry as PrometheusRegistry,
} from 'prom-client'

const require = createRequire(import.meta.url)

export type Counter = PrometheusCounter
export const Counter: typeof PrometheusCounter = require('prom-client/lib/counter.js')

export type Gauge = PrometheusGauge
export const Gauge: typeof PrometheusGauge = require('prom-client/lib/gauge.js')

export type Histogram = PrometheusHistogram
export const Histogram: typeof PrometheusHistogram = require('prom-client/lib/histogram.js')

export type Registry = PrometheusRegistry
export const Registry: typeof PrometheusRegistry = require('prom-client/lib/registry.js')
