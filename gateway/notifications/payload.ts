/** The form of a message for each type of channel, as JSON text. */
import type { NotificationMessage } from './message.ts'
import { visibleText } from '../runtime/visible-text.ts'
import type { Channel } from './settings.ts'

/** Servers cut or refuse longer texts. */
const LONGEST = 1500

/** Events that are the first about their subject. */
const ROOTS: ReadonlySet<NotificationMessage['kind']> = new Set(['approval.requested', 'break_glass.opened'])

type Encode = (message: NotificationMessage) => object

const ENCODERS: Readonly<Record<Channel['type'], Encode>> = {
  webhook: ({ kind, at, ...data }) => ({ type: kind, timestamp: at, data }),
  slack: slackMessage,
  slack_bot: slackMessage,
  teams: (message) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', text: cardText(message.title), weight: 'Bolder', size: 'Medium', wrap: true },
            { type: 'TextBlock', text: cardText(message.text), wrap: true },
            {
              type: 'FactSet',
              facts: message.facts.map(([title, value]) => ({ title: cardText(title), value: cardText(value) })),
            },
          ],
          actions: buttonsOf(message).map(({ title, url }) => ({ type: 'Action.OpenUrl', title, url })),
        },
      },
    ],
  }),
  email: ({ title, text, facts, url, actions, subject, kind }) => ({
    subject: title.replaceAll(/[\r\n]+/g, ' ').slice(0, 200),
    text: [
      text,
      '',
      ...facts.map(([name, value]) => `${name}: ${value}`),
      ...(isLink(url) ? ['', url] : []),
      ...actions.flatMap((action) => ['', action.title, action.url]),
    ].join('\n'),
    // Mail programs show the messages about one request together.
    thread: ROOTS.has(kind) ? null : subject,
    id: ROOTS.has(kind) ? subject : null,
  }),
}

export function payloadOf(message: NotificationMessage, type: Channel['type']): string {
  return JSON.stringify(ENCODERS[type](type === 'webhook' ? message : forPerson(message)))
}

/** Programs get the texts as they are. In front of a person nothing is invisible or reorders a line. */
function forPerson(message: NotificationMessage): NotificationMessage {
  const { title, text, facts } = message
  return {
    ...message,
    title: visibleText(title),
    text: visibleText(text),
    facts: facts.map(([name, value]) => [name, visibleText(value)] as const),
  }
}

/** The page, then the choices. Every button is a link: whoever follows it signs in. */
function buttonsOf({ url, actions }: NotificationMessage): readonly { readonly title: string; readonly url: string }[] {
  return [...(isLink(url) ? [{ title: 'Open', url }] : []), ...actions]
}

function isLink(url: string | null): url is string {
  return url !== null && /^https?:\/\//.test(url)
}

/** Slack reads these three as markup; everything else of a hostile text stays text. */
function slackText(text: string): string {
  const escaped = text.slice(0, LONGEST).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  // A zero-width space breaks what Slack would format or turn into a mention.
  return escaped.replaceAll(/[*_~`@]/g, (mark) => `${mark}\u200B`)
}

/** Cards read Markdown. */
function cardText(text: string): string {
  return text.slice(0, LONGEST).replaceAll(/[\\`*_[\]()<>#|~]/g, (mark) => `\\${mark}`)
}

function slackMessage(message: NotificationMessage): object {
  const buttons = buttonsOf(message)
  return {
    text: slackText(message.title),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: message.title.slice(0, 150) } },
      { type: 'section', text: { type: 'mrkdwn', text: slackText(message.text) } },
      ...(message.facts.length === 0
        ? []
        : [
            {
              type: 'section',
              fields: message.facts.slice(0, 10).map(([name, value]) => ({
                type: 'mrkdwn',
                text: `*${slackText(name)}*\n${slackText(value)}`,
              })),
            },
          ]),
      ...(buttons.length === 0
        ? []
        : [
            {
              type: 'actions',
              elements: buttons.map(({ title, url }) => ({
                type: 'button',
                text: { type: 'plain_text', text: title },
                url,
              })),
            },
          ]),
    ],
  }
}
