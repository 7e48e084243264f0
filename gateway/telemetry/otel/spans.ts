/**
 * Spans of observed requests, made when a request has ended and exported in batches. Unsampled requests cost an id; the SDK
 * is loaded only where a receiver is configured.
 */
import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Link,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api'
import { ExportResultCode, type ExportResult } from '@opentelemetry/core'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type IdGenerator,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace'
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { Observation } from '../observation.ts'
import type { SpanExport } from '../observer.ts'
import {
  begunTrace,
  newSpanId,
  passedTrace,
  recordedTrace,
  type InnerSpan,
  type RemoteParent,
  type TraceContext,
} from '../trace-context.ts'
import { clientAttributes, innerTerms, serverAttributes, serverName, type StoreServer } from './attributes.ts'
import type { BatchTerms, OtlpTarget, SamplerTerms } from './terms.ts'
import type { OtlpTransport } from './transport.ts'

interface SpanExportOptions {
  readonly target: Pick<OtlpTarget, 'form'>
  readonly transport: OtlpTransport
  readonly sampler: SamplerTerms
  readonly batch: BatchTerms
  readonly resource: Readonly<Record<string, string>>
  readonly version: string
  readonly database: StoreServer
}

interface ClosableSpanExport extends SpanExport {
  /** Exports what waits. */
  close(): Promise<void>
}

/** The ids that a request got at its begin, for the spans that are made at its end. */
class ChosenIds implements IdGenerator {
  traceId = ''
  spanId: string | null = null

  generateTraceId(): string {
    return this.traceId
  }

  generateSpanId(): string {
    const chosen = this.spanId ?? newSpanId()
    this.spanId = null
    return chosen
  }
}

export function createSpanExport(options: SpanExportOptions): ClosableSpanExport {
  const { target, transport, batch, resource, version } = options
  const ids = new ChosenIds()
  const serializer = target.form === 'json' ? JsonTraceSerializer : ProtobufTraceSerializer
  const send = async (spans: ReadableSpan[], done: (result: ExportResult) => void): Promise<void> => {
    const isSent = await transport.send(serializer.serializeRequest(spans) ?? new Uint8Array(), spans.length)
    done({ code: isSent ? ExportResultCode.SUCCESS : ExportResultCode.FAILED })
  }
  // At its end the processor waits for what it sends then, and not for what it sends already.
  const underWay = new Set<Promise<void>>()
  const processor = new BatchSpanProcessor({
    ...batch,
    exporter: {
      export(spans: ReadableSpan[], done) {
        const sending = send(spans, done).finally(() => underWay.delete(sending))
        underWay.add(sending)
      },
      shutdown: () => Promise.resolve(),
    },
  })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ ...resource, 'service.version': version }),
    // A request is sampled when it begins; spans are made of sampled ones only.
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
    spanProcessors: [processor],
  })
  const tracer = provider.getTracer('preflight-gateway', version)
  const isSampled = samplerOf(options.sampler)
  return {
    join: (parent) => joinTrace(parent, isSampled),
    export: (observation, milliseconds) => emit(observation, milliseconds, { tracer, ids, ...options }),
    async close() {
      await provider.shutdown().catch(() => {})
      await Promise.all(underWay)
      await transport.close()
    },
  }
}

type IsSampled = (traceId: string, parent: RemoteParent | null) => boolean

/** The ratio depends on the trace id alone, so all gateways with one ratio sample the same traces. */
function samplerOf({ ratio, followsParent }: SamplerTerms): IsSampled {
  const sampler = new TraceIdRatioBasedSampler(ratio)
  return (traceId, parent) => {
    if (parent !== null && followsParent) return parent.isSampled
    return sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED
  }
}

/** Sampling is decided first: a request that is not sampled has ids, and nothing else. */
function joinTrace(parent: RemoteParent | null, sampled: IsSampled): TraceContext {
  const joined = parent === null ? begunTrace() : passedTrace(parent)
  return sampled(joined.traceId, parent) ? recordedTrace(joined) : joined
}

interface Emission extends Pick<SpanExportOptions, 'database'> {
  readonly tracer: Tracer
  readonly ids: ChosenIds
}

function emit(observation: Observation, milliseconds: number, emission: Emission): void {
  const { trace: context, startedAt, links } = observation
  if (context === null) return
  const { tracer, ids } = emission
  const begin = performance.timeOrigin + startedAt
  ids.traceId = context.traceId
  ids.spanId = context.spanId
  const server = tracer.startSpan(
    serverName(observation),
    {
      kind: SpanKind.SERVER,
      startTime: begin,
      attributes: serverAttributes(observation),
      links: links.map(({ relation, ...other }): Link => ({
        context: { ...other, traceFlags: TraceFlags.SAMPLED, isRemote: true },
        attributes: { 'preflight.link': relation },
      })),
    },
    parentContext(context),
  )
  if ((observation.status ?? 0) >= 500) server.setStatus({ code: SpanStatusCode.ERROR })
  const inside = trace.setSpan(ROOT_CONTEXT, server)
  const stages = observation.spans.map(({ stage, from, to }) => {
    const attributes = { 'preflight.stage': stage }
    const span = tracer.startSpan(`preflight.${stage}`, { startTime: begin + from, attributes }, inside)
    span.end(begin + to)
    return { from, to, context: trace.setSpan(ROOT_CONTEXT, span) }
  })
  for (const span of context.inner ?? []) {
    const from = span.from - startedAt
    const stage = stages.find((one) => one.from <= from && from <= one.to)
    emitInner(span, { begin: begin - startedAt, end: begin + milliseconds }, stage?.context ?? inside, emission)
  }
  if (observation.upstreamFrom !== null) {
    ids.spanId = context.upstreamSpanId
    const from = begin + observation.upstreamFrom
    emitUpstream(
      observation,
      { from, to: begin + (observation.upstreamTo ?? observation.upstreamFrom) },
      inside,
      tracer,
    )
  }
  server.end(begin + milliseconds)
}

/** @param times `begin`: what turns a `performance.now()` into a time of day; `end`: of the request */
function emitInner(
  span: InnerSpan,
  times: { readonly begin: number; readonly end: number },
  inside: Context,
  { tracer, ids, database }: Emission,
): void {
  ids.spanId = span.spanId
  const { name, attributes } = innerTerms(span, database)
  const made = tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime: times.begin + span.from, attributes }, inside)
  if (span.fault !== null) made.setStatus({ code: SpanStatusCode.ERROR })
  made.end(span.to === null ? times.end : times.begin + span.to)
}

function emitUpstream(
  observation: Observation,
  times: { readonly from: number; readonly to: number },
  inside: Context,
  tracer: Tracer,
): void {
  const { fault, upstreamStatus } = observation
  const span = tracer.startSpan(
    observation.method,
    { kind: SpanKind.CLIENT, startTime: times.from, attributes: clientAttributes(observation) },
    inside,
  )
  if (fault !== null || (upstreamStatus ?? 0) >= 400) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(times.to)
}

function parentContext({ traceId, parentId, state }: TraceContext): Context {
  if (parentId === null) return ROOT_CONTEXT
  const parent: SpanContext = {
    traceId,
    spanId: parentId,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
    ...(state !== null && { traceState: createTraceState(state) }),
  }
  return trace.setSpanContext(ROOT_CONTEXT, parent)
}
