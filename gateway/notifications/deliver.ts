/** Brings one message to its channel, once. The outcome says whether it arrived, and where it can be found. */
import { recordIn, textIn } from '../json/unchecked-json.ts'
import { Webhook } from 'standardwebhooks'
import { openAgent, request } from '../network/undici.ts'
import { messageOf, notReached } from '../errors/startup-error.ts'
import type { DeliveryOutcome, PostedAnswer } from './delivery-outcome.ts'
import type { ClaimedDelivery, DeliveryRow } from '../store/notifications.ts'
import type { Channel } from './settings.ts'
import { postToSlack } from './slack-bot.ts'

export type Deliver = (row: ClaimedDelivery, channel: Channel, timeoutMs: number) => Promise<DeliveryOutcome>

/** Never rejects. */
export const deliver: Deliver = async (row, channel, timeoutMs) => {
  try {
    return await brought(row, channel, timeoutMs)
  } catch (error) {
    return { problem: messageOf(error), reference: null }
  }
}

function brought(row: ClaimedDelivery, channel: Channel, timeoutMs: number): Promise<DeliveryOutcome> {
  const { payload } = row
  if (channel.type === 'email') return mail(row, channel, timeoutMs)
  if (channel.type === 'slack_bot') {
    const headers = { authorization: `Bearer ${channel.token}` }
    return postToSlack(row, channel, (method, text) => post(`${channel.api}/${method}`, headers, text, timeoutMs))
  }
  const headers = channel.type === 'webhook' ? signature(row, channel.secret) : {}
  return acknowledged(post(channel.url, headers, payload, timeoutMs))
}

/** Answers of chats are short; more is not read. */
const LONGEST_ANSWER = 65_536

async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  text: string,
  timeoutMs: number,
): Promise<PostedAnswer> {
  const agent = openAgent({
    connections: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs },
  })
  try {
    const { statusCode, body } = await request(new URL(url), {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'preflight-gateway', ...headers },
      body: text,
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => {
      throw notReached('its address', url, error)
    })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > LONGEST_ANSWER) break
      chunks.push(bytes)
    }
    return { status: statusCode, text: Buffer.concat(chunks).toString('utf8') }
  } finally {
    await agent.destroy()
  }
}

async function acknowledged(posted: Promise<PostedAnswer>): Promise<DeliveryOutcome> {
  const { status } = await posted
  return { problem: status >= 200 && status < 300 ? null : `it answered ${status}`, reference: null }
}

/** The id stays the same for each try: receivers drop repeats by it. */
function signature({ id, payload }: DeliveryRow, secret: string): Readonly<Record<string, string>> {
  const now = new Date()
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, now, payload),
  }
}

async function mail(
  row: DeliveryRow,
  { smtp, from, to }: Extract<Channel, { readonly type: 'email' }>,
  timeoutMs: number,
): Promise<DeliveryOutcome> {
  const { createTransport } = await import('nodemailer')
  const members = recordIn(JSON.parse(row.payload))
  const text = (name: string): string => textIn(members[name]) ?? ''
  const { protocol, hostname, port, username, password } = new URL(smtp)
  const secure = protocol === 'smtps:'
  const transport = createTransport({
    host: hostname,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    // A password never goes over a connection that is not encrypted, whatever the server offers.
    requireTLS: username !== '',
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  })
  try {
    await transport.sendMail({
      from,
      to: [...to],
      subject: text('subject'),
      text: text('text'),
      messageId: address(text('id') === '' ? row.id : text('id')),
      ...(text('thread') !== '' && { inReplyTo: address(text('thread')), references: address(text('thread')) }),
      // A text of a contract must name neither a file nor an address to read.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    return { problem: null, reference: null }
  } finally {
    transport.close()
  }
}

function address(id: string): string {
  return `<${id}@preflight.invalid>`
}
