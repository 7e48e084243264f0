/** Answers one review with the parts of a gateway that has no listeners, and a store that is removed afterwards. */
import { Writable } from 'node:stream'
import type { ConfigSource } from '../config/load.ts'
import { openSettings } from '../config/live-settings.ts'
import type { Config } from '../config/schema.ts'
import { answerReview } from '../kubernetes/admission.ts'
import { neverHeld } from '../listen/request-context.ts'
import { readReview, reviewAnswer, type ReviewResponse } from '../kubernetes/review.ts'
import { isKubernetes } from '../kubernetes/webhooks.ts'
import { openState } from '../wiring/state.ts'
import { FollowedClock } from '../runtime/followed-clock.ts'
import { SteadyClock } from '../runtime/steady-clock.ts'
import type { KubernetesRoute } from '../protocols/kubernetes/settings.ts'
import { sniffing } from '../protocols/kubernetes/change.ts'
import { createLogger } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { startDeciding } from '../wiring/deciding.ts'
import { openJudging } from '../wiring/judging.ts'

type TriedReview =
  | { readonly ok: true; readonly response: ReviewResponse; readonly review: object }
  | { readonly ok: false; readonly problem: string }

/** @param source names a data directory that may be written to, and removed. Throws a ConfigError or a StartupError. */
export async function tryReview(source: ConfigSource, value: unknown, routeName?: string): Promise<TriedReview> {
  const read = readReview(value)
  if (!read.ok) return read
  const live = openSettings(source)
  const route = routeOf(live.current().config, routeName)
  if (typeof route === 'string') return { ok: false, problem: route }
  const logger = createLogger('silent')
  const metrics = createMetrics()
  const clock = new SteadyClock(Date.now, () => {})
  const { now } = clock
  const closers: (() => unknown)[] = []
  try {
    const { config } = live.current()
    const state = await openState({
      config,
      environment: source.environment,
      metrics,
      logger,
      clock,
      machine: new FollowedClock(Date.now, () => {}),
      closers,
    })
    const output = new Writable({ write: (_chunk, _encoding, done) => done() })
    const options = { state, live, environment: {}, metrics, logger, now, output, closers }
    const deciding = await startDeciding(options)
    const { proxy } = await openJudging(options, deciding, new Set())
    closers.push(() => proxy.close(0))
    const deps = {
      settings: live.current,
      pipeline: proxy.pipeline,
      sniff: sniffing(deciding.flow),
      observer: deciding.observer,
    }
    const response = await answerReview(read.request, { routeIn: () => route, trace: {} }, NOBODY, deps)
    return { ok: true, response, review: reviewAnswer(response) }
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

const NOBODY = { isGone: false, held: neverHeld(), onGone: () => () => {}, begin: () => {}, keepAlive: () => {} }

function routeOf({ routes }: Config, name: string | undefined): KubernetesRoute | string {
  const known = routes.flatMap((route) => (isKubernetes(route) ? [route] : []))
  const [first, ...others] = known.filter((route) => name === undefined || route.name === name)
  if (first !== undefined && others.length === 0) return first
  const names = known.map((route) => route.name).join(', ')
  if (known.length === 0) return 'the configuration has no route with protocol: kubernetes'
  return name === undefined
    ? `name one of the routes with --route: ${names}`
    : `there is no such route; known: ${names}`
}
