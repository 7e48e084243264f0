/**
 * Pushes changes to sidecars as an event stream (docs/reference/hub.md#changes). Each one receives those of its tenant only. Changes are
 * numbered, so a sidecar that comes back gets what it missed, or has to look up everything it uses. A proof says up to which moment
 * everything was sent.
 */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { GatewayError } from '../errors/errors.ts'
import type { Change, Changes } from '../store/changes.ts'
import type { StorePart } from '../store/store.ts'
import type { HubIdentity } from './identity.ts'
import { tenantScope } from './tenant-scope.ts'

export interface Feed {
  /**
   * Answers with the stream.
   * @param lastEventId of the last change that the caller got; null: none
   * @param receivedAt when the request arrived, as `performance.now()`
   */
  stream(identity: HubIdentity, response: ServerResponse, lastEventId: string | null, receivedAt: number): void
  /** The moment that proofs are about, and the process whose moment it is. */
  clock(): { readonly epoch: string; readonly at: number }
  /** Something that every sidecar has to read again. */
  announce(change: Change): void
  count(): number
  close(): void
}

interface FeedDeps {
  readonly changes: Pick<Changes, 'lag' | 'subscribe'>
  readonly store: StorePart<'receipts.tenants' | 'approvals.tenants' | 'apiKeys.byHash' | 'breakGlass.list'>
  /** Seconds within which a change is in force at a sidecar. */
  readonly bound: number
  /** Settings of callers: after a change each one proves again who it is. */
  readonly callers: () => object
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** A change and its owner; null: it is sent to every sidecar. */
interface Entry {
  readonly change: Change
  readonly tenant: string | null
}

interface Stream {
  readonly tenant: string
  readonly response: ServerResponse
  readonly endsAt: number
}

/** Changes that a sidecar may miss and still catch up. */
const REMEMBERED = 10_000
/** Proofs within the bound. */
const PROOFS = 4
/** A credential is proven again after this time, milliseconds; streams that began together end apart. */
const LIFE = 240_000
const LIFE_SPREAD = 60_000
/** A caller that does not read is cut off: it catches up later. */
const LONGEST_BACKLOG = 1024 * 1024
/** Changes whose owner is looked up together. */
const LARGEST_LOOK = 500
/** Exceptions that are open only by mistake are not looked through. */
const EXCEPTIONS = 1000

export function createFeed(deps: FeedDeps): Feed {
  return new SidecarFeed(deps)
}

class SidecarFeed implements Feed {
  readonly #deps: FeedDeps
  readonly #epoch = randomUUID().replaceAll('-', '')
  readonly #streams = new Set<Stream>()
  readonly #timer: NodeJS.Timeout
  /** The newest ones; the number of the last is `sent`. */
  #remembered: Entry[] = []
  #sent = 0
  #waiting: { readonly change: Change; readonly at: number }[] = []
  #isSending = false
  #isClosed = false
  /** The settings of callers that the open streams proved themselves by. */
  #callers: object

  constructor(deps: FeedDeps) {
    this.#deps = deps
    this.#callers = deps.callers()
    deps.changes.subscribe((change) => {
      // Keys are announced once this hub has them itself.
      if (change.kind === 'receipt_key') return
      // Changes that this hub missed come before the next proof: nobody has to be asked whose they are.
      if (change.key.length === 0) return this.announce(change)
      this.#waiting.push({ change, at: performance.now() })
      void this.#sendWaiting()
    })
    this.#timer = setInterval(() => this.#prove(), (deps.bound * 1000) / PROOFS).unref()
  }

  clock(): ReturnType<Feed['clock']> {
    return { epoch: this.#epoch, at: performance.now() }
  }

  stream(
    { tenant, endsAt: credentialEnds }: HubIdentity,
    response: ServerResponse,
    lastEventId: string | null,
    receivedAt: number,
  ): void {
    if (this.#isClosed) throw new GatewayError('STORE_UNAVAILABLE', undefined, { headers: { Connection: 'close' } })
    const epoch = this.#epoch
    const remaining = credentialEnds === null ? Number.POSITIVE_INFINITY : credentialEnds - this.#deps.now()
    const life = Math.min(LIFE + Math.random() * LIFE_SPREAD, remaining)
    const stream = { tenant, response, endsAt: performance.now() + life }
    const missed = missedBy(lastEventId, epoch, this.#sent, this.#remembered)
    response.writeHead(200, STREAM_HEADERS)
    const first = missed === null ? this.#sent : this.#sent - missed.length
    writeStream(stream, eventText('start', { epoch, at: receivedAt, reset: missed === null }, `${epoch}-${first}`))
    for (const [index, entry] of (missed ?? []).entries()) {
      const text = changeText(entry, tenant, `${epoch}-${first + index + 1}`)
      if (text !== null) writeStream(stream, text)
    }
    const at = this.#provenAt()
    if (at !== null) writeStream(stream, eventText('proof', { at }))
    this.#streams.add(stream)
    response.once('close', () => this.#streams.delete(stream))
  }

  announce(change: Change): void {
    this.#send({ change, tenant: null })
  }

  count(): number {
    return this.#streams.size
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#endStreams()
  }

  async #sendWaiting(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, LARGEST_LOOK).map(({ change }) => change)
      const owners = await ownersOfChanges(batch, this.#deps.store)
      this.#waiting = this.#waiting.slice(batch.length)
      for (const [index, change] of batch.entries()) this.#send(feedEntry(change, owners[index] ?? null))
    }
    this.#isSending = false
  }

  #send(entry: Entry): void {
    this.#sent += 1
    this.#remembered.push(entry)
    if (this.#remembered.length > 2 * REMEMBERED) this.#remembered = this.#remembered.slice(-REMEMBERED)
    for (const stream of this.#streams) {
      const text = changeText(entry, stream.tenant, `${this.#epoch}-${this.#sent}`)
      if (text !== null) writeStream(stream, text)
    }
  }

  /** Everything that happened before this moment of `performance.now` was sent; null: unknown. */
  #provenAt(): number | null {
    const lag = this.#deps.changes.lag()
    if (lag === null) return null
    return Math.min(performance.now() - lag, this.#waiting[0]?.at ?? Number.POSITIVE_INFINITY)
  }

  #prove(): void {
    const [moment, at] = [performance.now(), this.#provenAt()]
    const callers = this.#deps.callers()
    if (callers !== this.#callers) this.#endStreams()
    this.#callers = callers
    for (const stream of this.#streams) {
      if (moment > stream.endsAt) {
        this.#streams.delete(stream)
        stream.response.end()
      }
      // A comment shows that the hub is there, even if it receives no changes itself.
      else writeStream(stream, at === null ? ': \n\n' : eventText('proof', { at }))
    }
  }

  #endStreams(): void {
    for (const { response } of this.#streams) response.end()
    this.#streams.clear()
  }
}

const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  // nginx collects answers otherwise.
  'X-Accel-Buffering': 'no',
}

function writeStream({ response }: Stream, text: string): void {
  if (response.writableLength > LONGEST_BACKLOG) response.destroy()
  else response.write(text)
}

/** A change of an unknown owner is sent to everybody without its key: every sidecar looks up what it uses. */
function feedEntry(change: Change, tenant: string | null): Entry {
  return tenant === null ? { change: { ...change, key: [] }, tenant } : { change, tenant }
}

/** What a caller has not got; null: it is not known any more, or it was with another hub. */
function missedBy(
  lastEventId: string | null,
  epoch: string,
  sent: number,
  remembered: readonly Entry[],
): readonly Entry[] | null {
  const [, named, number] = /^([0-9a-f]{32})-([0-9]{1,15})$/.exec(lastEventId ?? '') ?? []
  const missing = sent - Number(number)
  if (named !== epoch || missing < 0 || missing > remembered.length) return null
  return missing === 0 ? [] : remembered.slice(-missing)
}

/** The change as its tenant knows it; null: it is of another tenant. */
function changeText({ change, tenant: owner }: Entry, tenant: string, id: string): string | null {
  if (owner !== null && owner !== tenant) return null
  const scope = tenantScope(tenant)
  const key = change.kind === 'baseline' ? change.key.map((name) => scope.own(name) ?? '') : change.key
  return eventText('change', { kind: change.kind, key }, id)
}

function eventText(event: string, data: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

async function ownersBy(
  ids: readonly string[],
  read: (ids: readonly string[]) => Promise<Readonly<Record<string, string>>>,
): Promise<ReadonlyMap<string, string>> {
  return new Map(ids.length === 0 ? [] : Object.entries(await read(ids)))
}

/** The owner of each change; null: it cannot be found out. */
async function ownersOfChanges(
  batch: readonly Change[],
  store: FeedDeps['store'],
): Promise<readonly (string | null)[]> {
  const idsOf = (wanted: Change['kind']) => batch.flatMap(({ kind, key: [id = ''] }) => (kind === wanted ? [id] : []))
  const [decisions, approvals] = [idsOf('receipt_event'), idsOf('approval')]
  try {
    const [ofDecisions, ofApprovals, exceptions] = await Promise.all([
      ownersBy(decisions, (ids) => store.receipts.tenants(ids)),
      ownersBy(approvals, (ids) => store.approvals.tenants(ids)),
      idsOf('break_glass').length === 0 ? [] : store.breakGlass.list({ limit: EXCEPTIONS }),
    ])
    const keys = new Map<string, string>()
    for (const hash of new Set(idsOf('api_key'))) {
      const row = await store.apiKeys.byHash(hash)
      if (row !== null) keys.set(hash, row.tenant)
    }
    const routes = new Map(exceptions.map(({ id, route }) => [id, route]))
    return batch.map(({ kind, key: [id = ''] }) => {
      if (kind === 'receipt_event') return ofDecisions.get(id) ?? null
      if (kind === 'approval') return ofApprovals.get(id) ?? null
      if (kind === 'api_key') return keys.get(id) ?? null
      return storedTenant(kind === 'break_glass' ? routes.get(id) : id)
    })
  } catch {
    return batch.map(() => null)
  }
}

/** The tenant of `TENANT:ROUTE`; a route of the hub itself has none. */
function storedTenant(stored: string | undefined): string | null {
  if (stored === undefined) return null
  const [tenant = '', route] = stored.split(':', 2)
  return route === undefined ? '' : tenant
}
