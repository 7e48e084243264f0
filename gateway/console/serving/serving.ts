/** Serves the console: who is signed in, which page it is, whether a form may be taken, and the headers of every answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import findMyWay from 'find-my-way'
import { refuseForeignPages } from '../../network/origin.ts'
import { createMinuteRate, strangersLimits } from '../../api/quota.ts'
import { apiKeyRow, hashApiKey, isKeyInForce, mintApiKey, SESSION_PLAN, sessionOwner } from '../../callers/api-keys.ts'
import { apiKeyAct } from '../../callers/manage-keys.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import { hasRight } from '../../callers/rights.ts'
import { GatewayError, knownError } from '../../errors/errors.ts'
import { discardRest } from '../../network/discard-body.ts'
import { ASSETS } from './assets.ts'
import { createChanges } from './changes.ts'
import { readPostedForm, requireOwnForm } from './forms.ts'
import { framed } from './layout.ts'
import { html, type Markup } from '../markup.ts'
import { readQuery } from '../query.ts'
import { PAGES, type PageRow } from './pages.ts'
import { head, notice, MOST_COUNTED } from '../parts.ts'
import { createSessions, END_OF_ATTEMPT, END_OF_SESSION, type Session, type Sessions } from './session.ts'
import type { Observation } from '../../telemetry/observation.ts'
import { withTrace } from '../../telemetry/trace-context.ts'
import type { Providers } from '../../callers/providers.ts'
import { nextPath, signInPage, type SignInProblem } from './sign-in.ts'
import type { ConsoleDeps, PageReply, Visit, Visitor } from '../visit.ts'

export interface Serving {
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
  close(): void
}

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'X-Content-Type-Options': 'nosniff',
  // With no-referrer, browsers would send forms with the origin null.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

/** Sign-ins in a minute that are begun with a provider, or that fail with a key. A good key is always let in. */
const SIGN_INS = { address: 60, everybody: 600 } as const
/** Questions to a provider about one sign-in: the answer is taken once. */
const ANSWERS_OF_ONE = 3

interface Inner extends ConsoleDeps {
  readonly sessions: Sessions
  readonly router: ReturnType<typeof routerOf>
  readonly rate: ReturnType<typeof createMinuteRate>
  readonly changes: ReturnType<typeof createChanges>
  /** Loaded with the first sign-in that needs it. */
  readonly providers: { known?: Providers }
}

export function createServing(deps: ConsoleDeps): Serving {
  const changes = createChanges(deps)
  const inner: Inner = {
    ...deps,
    sessions: createSessions(deps.store),
    router: routerOf(),
    rate: createMinuteRate(),
    changes,
    providers: {},
  }
  return { serve: (request, response) => serveConsole(request, response, inner), close: () => changes.close() }
}

function routerOf() {
  const router = findMyWay({ ignoreTrailingSlash: true })
  for (const row of PAGES) router.on(row.method, row.path, () => {}, row)
  return router
}

async function serveConsole(request: IncomingMessage, response: ServerResponse, inner: Inner): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://console.invalid')
  const observation = inner.observer.begin(request)
  observation.protocol = 'api'
  observation.action = '/console'
  await withTrace(observation.trace, () => serveIn(observation, { request, response, url }, inner))
  observation.status = response.statusCode
  inner.observer.end(observation)
  const status = String(response.statusCode)
  inner.metrics.count('preflight_api_requests_total', { endpoint: '/console', status })
  const seconds = (performance.now() - observation.startedAt) / 1000
  inner.metrics.observe('preflight_api_request_seconds', { endpoint: '/console' }, seconds)
}

interface ConsoleExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
}

async function serveIn(observation: Observation, exchange: ConsoleExchange, inner: Inner): Promise<void> {
  const { request, response } = exchange
  try {
    refuseForeignPages(request, inner.settings().config.public_url)
    await answerExchange(observation, exchange, inner)
  } catch (error) {
    const refusal = knownError(error)
    if (refusal.status >= 500 || refusal.cause !== undefined)
      inner.logger.error({ event: 'console.request_failed', err: refusal.cause ?? refusal }, 'console request failed')
    if (response.headersSent) response.destroy()
    else sendPageText(response, refusal.status, `${refusal.message}\n`, { 'Content-Type': 'text/plain; charset=utf-8' })
  }
  discardRest(request)
}

async function answerExchange(observation: Observation, exchange: ConsoleExchange, inner: Inner): Promise<void> {
  const { request, response, url } = exchange
  const { method = 'GET' } = request
  const asset = ASSETS.get(url.pathname)
  if (asset !== undefined)
    return sendPageText(response, 200, asset.text, {
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Type': asset.type,
    })
  const now = inner.now()
  const session = await inner.sessions.read(request.headers, now)
  const visitor = session === null ? null : await visitorOf(session, inner)
  const form =
    method === 'POST' ? await readPostedForm(request, response, inner, session !== null) : new URLSearchParams()
  if (method === 'POST') requireOwnForm(request, inner.settings().config.public_url)
  const provided = /^\/console\/sign-in\/([a-z0-9-]{1,32})(\/callback)?$/.exec(url.pathname)
  if (provided !== null && method === 'GET')
    return signInWith(provided[1] ?? '', provided[2] !== undefined, { request, response, url, now }, inner)
  if (url.pathname === '/console/sign-in')
    return signIn({ method, url, form, visitor, address: request.socket.remoteAddress, response, now }, inner)
  if (session === null || visitor === null) return toSignIn(response, url)
  if (method === 'POST' && !inner.sessions.isOwn(form.get('csrf'), session))
    throw new GatewayError('FORBIDDEN', 'The form is too old. Go back, load the page again and repeat.')
  if (url.pathname === '/console/sign-out' && method === 'POST') {
    await signOut(session, visitor, inner)
    return redirect(response, '/console/sign-in', { 'Set-Cookie': END_OF_SESSION })
  }
  if (url.pathname === '/console/events') return inner.changes.stream(response, HEADERS, visitor.tenant)
  const found = method === 'GET' || method === 'POST' ? inner.router.find(method, url.pathname) : null
  const visit: Visit = {
    visitor,
    csrf: session.csrf,
    path: url.pathname,
    query: url.searchParams,
    params: found?.params ?? {},
    form,
    settings: inner.settings(),
    observation,
    now,
    deps: inner,
  }
  const stored: unknown = found?.store
  await reply(visit, PAGES.find((row) => row === stored) ?? NOT_FOUND, response)
}

const NOT_FOUND: Pick<PageRow, 'page'> = {
  page: () => Promise.reject(new GatewayError('NOT_FOUND', 'There is no such page.')),
}

/** A refusal is shown inside the frame, so that the person can go on. */
async function reply(
  visit: Visit,
  row: Pick<PageRow, 'page' | 'query' | 'search'>,
  response: ServerResponse,
): Promise<void> {
  let made: PageReply
  try {
    made = await row.page(row === NOT_FOUND ? visit : { ...visit, query: readQuery(visit.query, row.query) })
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status >= 500) throw error
    const details = error.details.map(
      ({ pointer, message }) => html`<p>${pointer.startsWith('/') ? message : `${pointer} ${message}`}</p>`,
    )
    const body = html`${head({ title: error.status === 404 ? 'Not found' : 'This was not done' })}
    ${notice('bad', [html`<p>${error.message}</p>`, details])}
    ${row.search?.(visit) ?? html`<p><a href="${visit.path.replace(/\/[^/]*$/, '') || '/console'}">Back</a></p>`}`
    made = { kind: 'page', status: error.status, title: 'Not done', body }
  }
  if (made.kind === 'redirect') return redirect(response, made.to)
  if (made.kind === 'lines') {
    const disposition = `attachment; filename="${made.name}"`
    response.writeHead(200, { ...HEADERS, 'Content-Type': 'application/x-ndjson', 'Content-Disposition': disposition })
    return pipeline(Readable.from(made.lines), response)
  }
  const { tenant } = visit.visitor
  const limit = MOST_COUNTED + 1
  const waiting = await visit.deps.store.approvals.pending({ tenant, limit, now: visit.now })
  sendPage(response, made.status ?? 200, framed(visit, made, waiting.length))
}

interface SignIn {
  readonly method: string
  readonly url: URL
  readonly form: URLSearchParams
  readonly visitor: Visitor | null
  /** Of the connection. */
  readonly address: string | undefined
  readonly response: ServerResponse
  readonly now: number
}

async function signIn({ method, url, form, visitor, address, response, now }: SignIn, inner: Inner): Promise<void> {
  const show = (problem: SignInProblem | null, next: string, status: number) =>
    sendPage(response, status, signInPage(problem, next, inner.settings().config.console.providers))
  if (method !== 'POST') {
    const next = nextPath(url.searchParams.get('next'))
    if (visitor !== null) return redirect(response, next)
    // The cookie was set a moment ago and did not come back.
    return show(url.searchParams.has('done') ? 'cookie' : null, next, 200)
  }
  const next = nextPath(form.get('next'))
  const hash = hashApiKey((form.get('key') ?? '').trim())
  const key = await inner.store.apiKeys.byHash(hash)
  if (key === null || !isKeyInForce(key, now)) {
    // Counted only now: strangers who guess keys must not keep out who has one.
    inner.rate.takeEach(strangersLimits('sign-in', SIGN_INS, { address }), now)
    return show('unknown', next, 401)
  }
  if (!hasRight(key, 'read')) return show('role', next, 403)
  const seconds = inner.settings().config.console.session
  const cookie = await openConsoleSession({ key: hash }, { ...key, owner: sessionOwner(key) }, { now, seconds }, inner)
  inner.logger.info({ event: 'console.signed_in', by: key.audience }, 'signed in to the console')
  redirect(response, `/console/sign-in?done=1&next=${encodeURIComponent(next)}`, { 'Set-Cookie': cookie })
}

interface ProvidedSignIn {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly now: number
}

/** Leads a person to a provider, and takes them back. */
async function signInWith(
  name: string,
  isBack: boolean,
  { request, response, url, now }: ProvidedSignIn,
  inner: Inner,
): Promise<void> {
  const { console: settings, public_url: publicUrl } = inner.settings().config
  const provider = settings.providers.find((known) => known.name === name)
  if (provider === undefined) throw new GatewayError('NOT_FOUND', 'There is no such provider.')
  // The configuration check requires it: an address of the Host header would be the caller's choice.
  if (publicUrl === undefined) throw new GatewayError('NOT_FOUND', 'Sign-in with a provider needs public_url.')
  const { origin } = new URL(publicUrl)
  const callback = `${origin}/console/sign-in/${name}/callback`
  const { createProviders } = await import('../../callers/providers.ts')
  const providers = (inner.providers.known ??= createProviders(inner.now))
  const address = request.socket.remoteAddress
  if (!isBack) {
    inner.rate.takeEach(strangersLimits('sign-in', SIGN_INS, { address }), now)
    const { url: away, attempt } = await providers.begin(provider, callback, nextPath(url.searchParams.get('next')))
    return redirect(response, away, { 'Set-Cookie': await inner.sessions.holdAttempt(attempt, now) })
  }
  const attempt = await inner.sessions.attempt(request.headers, now)
  if (attempt === null || attempt.provider !== name)
    throw new GatewayError(
      'FORBIDDEN',
      'This sign-in was not begun in this browser, or too long ago. Start again at /console.',
    )
  // Each answer is a question to the provider.
  const account = { name: attempt.state, limit: ANSWERS_OF_ONE }
  inner.rate.takeEach(strangersLimits('sign-in answer', SIGN_INS, { address, account }), now)
  const person = await providers.complete(provider, new URL(url.pathname + url.search, origin), attempt)
  const seconds = Math.min(settings.session, provider.session)
  const cookie = await openConsoleSession(
    { provider: name, person },
    { ...person, owner: person.identity },
    { now, seconds },
    inner,
  )
  inner.logger.info({ event: 'console.signed_in', by: person.identity }, 'signed in to the console')
  const next = `/console/sign-in?done=1&next=${encodeURIComponent(nextPath(attempt.next))}`
  redirect(response, next, { 'Set-Cookie': [cookie, END_OF_ATTEMPT] })
}

/** Its key is one that nobody holds: it grants nothing, and only its revocation counts. */
async function openConsoleSession(
  holder: Session['holder'],
  { name, tenant, owner }: Pick<ApiKey, 'name' | 'tenant' | 'owner'>,
  { now, seconds }: { readonly now: number; readonly seconds: number },
  { store, sessions }: Pick<Inner, 'store' | 'sessions'>,
): Promise<string> {
  const expiresAt = now + seconds * 1000
  const row = apiKeyRow({
    key: mintApiKey(),
    name: `${name} (console)`,
    role: 'viewer',
    at: now,
    tenant,
    plan: SESSION_PLAN,
    owner,
    expiresAt,
  })
  await store.apiKeys.create(row)
  return sessions.open(holder, row.hash, now, seconds)
}

async function signOut({ key }: Session, { audience }: Visitor, { store, now, logger }: ConsoleDeps): Promise<void> {
  const row = await store.apiKeys.byHash(key)
  if (row === null || !(await store.apiKeys.revoke(key, now()))) return
  logger.info({ ...apiKeyAct('revoked', row), by: audience }, 'signed out of the console')
}

async function visitorOf(
  { holder, key }: Session,
  { store, now, settings }: Pick<ConsoleDeps, 'store' | 'now' | 'settings'>,
): Promise<Visitor | null> {
  const own = await store.apiKeys.byHash(key)
  if (own === null || !isKeyInForce(own, now())) return null
  if ('person' in holder) {
    const { identity, ...person } = holder.person
    // A provider that is no longer configured signs nobody in.
    const isKnown = settings().config.console.providers.some(({ name }) => name === holder.provider)
    return isKnown && hasRight(person, 'read') ? { ...person, audience: identity } : null
  }
  const row = await store.apiKeys.byHash(holder.key)
  return row === null || !isKeyInForce(row, now()) || !hasRight(row, 'read') ? null : row
}

function toSignIn(response: ServerResponse, url: URL): void {
  const next = nextPath(url.pathname + url.search)
  redirect(response, `/console/sign-in${next === '/console' ? '' : `?next=${encodeURIComponent(next)}`}`)
}

function redirect(
  response: ServerResponse,
  to: string,
  headers: Readonly<Record<string, string | string[]>> = {},
): void {
  response.writeHead(303, { ...HEADERS, ...headers, Location: to, 'Content-Length': 0 })
  response.end()
}

function sendPage(response: ServerResponse, status: number, page: Markup): void {
  sendPageText(response, status, page.toString(), { 'Content-Type': 'text/html; charset=utf-8' })
}

function sendPageText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  const bytes = Buffer.from(text)
  response.writeHead(status, { ...HEADERS, ...headers, 'Content-Length': bytes.length })
  response.end(bytes)
}
