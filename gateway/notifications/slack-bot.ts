/**
 * Messages of a Slack app. A subject has one message in its channel: what happens to it updates that message, and follows as a
 * reply in its thread.
 */
import { jsonOrNull, recordIn, textIn } from '../json/unchecked-json.ts'
import type { ClaimedDelivery, NoticeKind } from '../store/notifications.ts'
import type { DeliveryOutcome, PostedAnswer } from './delivery-outcome.ts'
import type { Channel } from './settings.ts'

type SlackBot = Extract<Channel, { readonly type: 'slack_bot' }>

/** Posts JSON text to a method of the API, with the token of the app. */
type SlackCall = (method: string, text: string) => Promise<PostedAnswer>

/** What changes the state that the first message shows. Other events are replies only. */
const UPDATES: ReadonlySet<NoticeKind | 'test'> = new Set<NoticeKind>([
  'approval.granted',
  'approval.denied',
  'approval.expired',
  'approval.moot',
  'break_glass.closed',
])

/** https://docs.slack.dev/reference/methods/chat.postMessage and chat.update */
export async function postToSlack(
  { payload, kind, thread }: ClaimedDelivery,
  { channel }: SlackBot,
  call: SlackCall,
): Promise<DeliveryOutcome> {
  const message = slackContent(payload)
  const place = thread === null ? null : slackPlace(thread)
  const ask = async (method: string, body: object) => slackAnswer(await call(method, JSON.stringify(body)))
  if (place !== null) {
    // Repeated by a retry, the update changes nothing. So it comes first.
    const updated = UPDATES.has(kind) ? await ask('chat.update', { ...place, ...message }) : GOOD
    if (updated.problem === null) {
      const reply = { channel: place.channel, thread_ts: place.ts, text: message.text }
      const { problem } = await ask('chat.postMessage', reply)
      return { problem, reference: null }
    }
    if (!GONE.has(updated.error)) return { problem: updated.problem, reference: null }
  }
  return ask('chat.postMessage', { channel, ...message })
}

/** The first message was deleted, or nobody may change it any more: a new one is posted. */
const GONE: ReadonlySet<string> = new Set(['message_not_found', 'cant_update_message', 'edit_window_closed'])

interface SlackAnswer extends DeliveryOutcome {
  readonly error: string
}

const GOOD: SlackAnswer = { problem: null, reference: null, error: '' }

function refusedBySlack(problem: string, error = ''): SlackAnswer {
  return { problem, reference: null, error }
}

/** Slack answers 200 to what it refuses, too. */
function slackAnswer({ status, text }: PostedAnswer): SlackAnswer {
  if (status !== 200) return refusedBySlack(`it answered ${status}`)
  const { ok, error, ts, channel } = recordIn(jsonOrNull(text))
  if (typeof ok !== 'boolean') return refusedBySlack('its answer is not the one of Slack')
  if (!ok) {
    const code = typeof error === 'string' ? error.slice(0, 100) : 'no reason'
    return refusedBySlack(`Slack refused it: ${code}`, code)
  }
  const isPlace = typeof ts === 'string' && typeof channel === 'string'
  return { ...GOOD, reference: isPlace ? JSON.stringify({ channel, ts }) : null }
}

function slackContent(payload: string): { readonly text: string; readonly blocks: unknown } {
  const { text, blocks } = recordIn(jsonOrNull(payload))
  return { text: textIn(text) ?? '', blocks }
}

function slackPlace(thread: string): { readonly channel: string; readonly ts: string } | null {
  const { channel, ts } = recordIn(jsonOrNull(thread))
  return typeof channel === 'string' && typeof ts === 'string' ? { channel, ts } : null
}
