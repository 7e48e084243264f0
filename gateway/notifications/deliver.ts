/** Brings one message to its channel, once. The result says whether it arrived. */
import { Webhook } from 'standardwebhooks'
import { openAgent, request } from '../network/undici.ts'
import { messageOf } from '../errors/startup-error.ts'
import type { DeliveryRow } from '../store/notifications.ts'
import type { Channel } from './settings.ts'

/** Null: it arrived; else why not. */
export type Deliver = (row: DeliveryRow, channel: Channel, timeoutMs: number) => Promise<string | null>

/** Never rejects. */
export const deliver: Deliver = async (row, channel, timeoutMs) => {
  try {
    return channel.type === 'email' ? await mail(row, channel, timeoutMs) : await post(row, channel, timeoutMs)
  } catch (error) {
    return messageOf(error)
  }
}

type WebChannel = Exclude<Channel, { readonly type: 'email' }>

async function post(row: DeliveryRow, channel: WebChannel, timeoutMs: number): Promise<string | null> {
  const agent = openAgent({
    connections: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs },
  })
  try {
    const { statusCode, body } = await request(new URL(channel.url), {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'preflight-gateway', ...signature(row, channel) },
      body: row.payload,
      signal: AbortSignal.timeout(timeoutMs),
    })
    await body.dump()
    return statusCode >= 200 && statusCode < 300 ? null : `it answered ${statusCode}`
  } finally {
    await agent.destroy()
  }
}

/** The id stays the same for each try: receivers drop repeats by it. */
function signature(row: DeliveryRow, channel: WebChannel): Readonly<Record<string, string>> {
  if (channel.type !== 'webhook') return {}
  const now = new Date()
  return {
    'webhook-id': row.id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(channel.secret).sign(row.id, now, row.payload),
  }
}

async function mail(
  row: DeliveryRow,
  { smtp, from, to }: Extract<Channel, { readonly type: 'email' }>,
  timeoutMs: number,
): Promise<string | null> {
  const { createTransport } = await import('nodemailer')
  const parsed: unknown = JSON.parse(row.payload)
  const text = (name: string): string => {
    const value: unknown =
      typeof parsed === 'object' && parsed !== null ? Object.entries(parsed).find(([key]) => key === name)?.[1] : null
    return typeof value === 'string' ? value : ''
  }
  const { protocol, hostname, port, username, password } = new URL(smtp)
  const secure = protocol === 'smtps:'
  const transport = createTransport({
    host: hostname,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
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
    return null
  } finally {
    transport.close()
  }
}

function address(id: string): string {
  return `<${id}@preflight.invalid>`
}
