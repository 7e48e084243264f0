/**
 * Takes notices, makes messages for the channels that they concern, and delivers them with retries. The queue is in the store:
 * messages survive a restart, and each is delivered by one gateway.
 */
import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors/errors.ts'
import type { NotificationDelivery, DeliveryRow } from '../store/notifications.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Deliver } from './deliver.ts'
import type { DeliveryOutcome } from './delivery-outcome.ts'
import { concerns, notificationMessage, type NotificationMessage, type MessageStore } from './message.ts'
import { payloadOf } from './payload.ts'
import type { Channel, NotificationsConfig } from './settings.ts'
import { nextTry } from '../runtime/retry-schedule.ts'

interface NotifierDeps {
  readonly settings: () => { readonly config: NotificationsConfig }
  readonly store: MessageStore &
    StorePart<
      | 'approvals.remind'
      | 'notifications.notices'
      | 'notifications.enqueue'
      | 'notifications.claim'
      | 'notifications.complete'
      | 'notifications.backlog'
      | 'notifications.forget'
    >
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export interface Notifier {
  start(): void
  /** Puts a test message in the queue of a channel. @throws GatewayError NOT_FOUND */
  test(channel: string): Promise<void>
  close(): Promise<void>
}

const LOOK_MS = 1000
/** A reminder may be as late as this. */
const REMIND_MS = 5000
const NOTICES = 100
const CLAIMED = 20
/** A gateway that stops in the middle of a delivery leaves it for the others after this. */
const LEASE_MS = 120_000
/** The delivery log goes back this far. */
const LOG_MS = 30 * 86_400_000
const FORGET_MS = 3_600_000

export function createNotifier(deps: NotifierDeps): Notifier {
  return new QueueNotifier(deps)
}

class QueueNotifier implements Notifier {
  readonly #deps: NotifierDeps
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> = Promise.resolve()
  #forgotAt = Number.NEGATIVE_INFINITY
  #remindedAt = Number.NEGATIVE_INFINITY
  #backlog: Awaited<ReturnType<NotifierDeps['store']['notifications']['backlog']>> = []

  constructor(deps: NotifierDeps) {
    this.#deps = deps
    const { metrics, now } = deps
    metrics.sample('preflight_notifications_waiting', () =>
      this.#backlog.reduce((sum, { waiting }) => sum + waiting, 0),
    )
    metrics.sample('preflight_notifications_oldest_seconds', () => {
      const oldest = Math.min(...this.#backlog.map((one) => one.oldest))
      return this.#backlog.length === 0 ? 0 : Math.max(0, now() - oldest) / 1000
    })
  }

  get #config(): NotificationsConfig {
    return this.#deps.settings().config
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#round().finally(() => {
        if (this.#timer !== null) this.start()
      })
    }, LOOK_MS)
    this.#timer.unref()
  }

  async test(name: string): Promise<void> {
    const { store, now } = this.#deps
    const channel = this.#config.notifications.channels.find((known) => known.name === name)
    if (channel === undefined)
      throw new GatewayError('NOT_FOUND', `There is no channel "${name}" in the configuration.`)
    await store.notifications.enqueue([], [newDelivery(testMessage(now()), channel, now())])
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await this.#running
  }

  async #round(): Promise<void> {
    const { store, logger, now } = this.#deps
    try {
      await this.#look()
      if (now() - this.#forgotAt < FORGET_MS) return
      this.#forgotAt = now()
      await store.notifications.forget(now() - LOG_MS)
    } catch (error) {
      logger.warn({ event: 'notification.look_failed', err: error }, 'notifications could not be read or stored')
    }
  }

  async #look(): Promise<void> {
    const { store, now } = this.#deps
    const { channels, timeout } = this.#config.notifications
    if (channels.length === 0) return
    if (now() - this.#remindedAt >= REMIND_MS) await this.#remind()
    await this.#fanOut(channels)
    const due = await store.notifications.claim(now(), now() + LEASE_MS, CLAIMED)
    if (due.length > 0) {
      const deliver = await loadDeliver()
      await Promise.all(
        due.map(async (row) => {
          const channel = channels.find(({ name }) => name === row.channel)
          await this.#complete(row, channel === undefined ? NO_CHANNEL : await deliver(row, channel, timeout * 1000))
        }),
      )
    }
    this.#backlog = await store.notifications.backlog()
  }

  async #remind(): Promise<void> {
    const { store, logger, now } = this.#deps
    this.#remindedAt = now()
    const { remind } = this.#config.approvals
    if (remind <= 0) return
    for (const id of await store.approvals.remind(this.#remindedAt, this.#remindedAt + remind * 1000))
      logger.info({ event: 'approval.reminded', approval_id: id }, 'a request for approval is about to expire')
  }

  async #fanOut(channels: readonly Channel[]): Promise<void> {
    const { store, logger, now } = this.#deps
    const notices = await store.notifications.notices(NOTICES)
    if (notices.length === 0) return
    const deliveries: NotificationDelivery[] = []
    // Notices wait for the first channel; nobody needs those that would have been given up by now.
    const since = now() - this.#config.notifications.give_up * 1000
    const fresh = notices.filter(({ at }) => at >= since)
    for (const notice of fresh) {
      const message = await notificationMessage(notice, store, this.#config)
      if (message === null) continue
      for (const channel of channels)
        if (concerns(message, channel)) deliveries.push(newDelivery(message, channel, notice.at))
    }
    await store.notifications.enqueue(
      notices.map(({ id }) => id),
      deliveries,
    )
    if (fresh.length === notices.length) return
    const old = { notices: notices.length - fresh.length, reason: 'they are older than notifications.give_up' }
    logger.error({ event: 'notification.given_up', ...old }, 'notices are too old to be sent')
  }

  async #complete(row: DeliveryRow, { problem, reference }: DeliveryOutcome): Promise<void> {
    const { store, metrics, logger, now } = this.#deps
    const at = now()
    const { give_up: giveUp } = this.#config.notifications
    const nextAt = problem === null ? null : nextTry(row.attempts, at, row.createdAt, giveUp * 1000)
    await store.notifications.complete(row.id, { at, problem, nextAt, reference })
    const result = problem === null ? 'delivered' : nextAt === null ? 'given_up' : 'retried'
    metrics.count('preflight_notifications_total', { channel: row.channel, result })
    if (problem === null) return
    const fields = { channel: row.channel, delivery: row.id, kind: row.kind, subject: row.subject, reason: problem }
    if (nextAt === null) logger.error({ event: 'notification.given_up', ...fields }, 'a message to people was given up')
    else logger.warn({ event: 'notification.retried', ...fields }, 'a message to people is tried again')
  }
}

const NO_CHANNEL: DeliveryOutcome = { problem: 'the channel is no longer in the configuration', reference: null }

/** Loaded with the first message: an idle gateway holds neither mail nor signatures. */
async function loadDeliver(): Promise<Deliver> {
  return (await import('./deliver.ts')).deliver
}

function newDelivery(message: NotificationMessage, channel: Channel, createdAt: number): NotificationDelivery {
  const { kind, subject } = message
  const id = `msg_${randomUUID().replaceAll('-', '')}`
  return { id, channel: channel.name, kind, subject, payload: payloadOf(message, channel.type), createdAt }
}

function testMessage(at: number): NotificationMessage {
  return {
    kind: 'test',
    subject: `test:${at}`,
    at: new Date(at).toISOString(),
    title: 'Test message of Preflight Gateway',
    text: 'This channel works.',
    url: null,
    facts: [],
    risk: null,
    route: null,
    environment: null,
    groups: [],
    actions: [],
    tenant: 'local',
  }
}
