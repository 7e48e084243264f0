/** Settings of notifications: the channels, and which events each of them gets. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { NOTICE_KINDS } from '../store/notifications.ts'
import { integer, period, seconds, strict } from '../settings/fields.ts'
import type { ApprovalsConfig } from '../approvals/settings.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'

const listed = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description }))

/** The same for every channel. */
const ROUTING = {
  name: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,62}$', description: 'Name in the delivery log and in metrics.' }),
  events: Type.Optional(
    Type.Array(Type.Enum(NOTICE_KINDS), { minItems: 1, description: 'Only these events; default: all.' }),
  ),
  groups: listed('Only requests that one of these groups of approvers may grant.'),
  routes: listed('Only events of these routes.'),
  environments: listed('Only events of these environments.'),
  tenants: Type.Array(Type.String({ minLength: 1 }), { default: ['local'], description: 'Events of these tenants.' }),
  min_risk: integer(0, 'Only requests with at least this risk score', 0),
} as const
const closed = { additionalProperties: false }
const address = (description: string) => Type.String({ pattern: '^https?://', description })

export const Channel = Type.Union([
  Type.Object(
    {
      type: Type.Literal('webhook', {
        description:
          'webhook: signed by the Standard Webhooks specification. slack, teams: incoming webhooks. slack_bot: a Slack app, which keeps one message for each request. email: over SMTP.',
      }),
      url: address('Takes POST; 2xx acknowledges.'),
      secret: Type.String({
        pattern: '^whsec_[A-Za-z0-9+/=]{32,}$',
        description: 'Signs each message: whsec_ and 24 to 64 bytes in Base64.',
      }),
      ...ROUTING,
    },
    closed,
  ),
  Type.Object(
    { type: Type.Literal('slack'), url: address('Incoming webhook of Slack or of a compatible server.'), ...ROUTING },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('slack_bot'),
      token: Type.String({
        pattern: '^xox[a-z]-[A-Za-z0-9-]+$',
        description: 'Bot token of the Slack app, with the scope chat:write.',
      }),
      channel: Type.String({
        pattern: '^[A-Z0-9]{3,32}$',
        description: 'Id of the channel in Slack. The app must be a member.',
      }),
      api: Type.String({
        pattern: '^https?://',
        default: 'https://slack.com/api',
        description: 'Base address of the API of Slack or of a compatible server.',
      }),
      ...ROUTING,
    },
    closed,
  ),
  Type.Object(
    { type: Type.Literal('teams'), url: address('Workflow webhook of Microsoft Teams.'), ...ROUTING },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('email'),
      smtp: Type.String({
        pattern: '^smtps?://',
        description:
          'Mail server: smtp(s)://USER:PASSWORD@HOST:PORT. With a password, smtp:// needs a server with STARTTLS.',
      }),
      from: Type.String({ minLength: 3, description: 'Sender: a mail address, e.g. preflight@example.org.' }),
      to: Type.Array(Type.String({ minLength: 3 }), { minItems: 1, description: 'Recipients: mail addresses.' }),
      ...ROUTING,
    },
    closed,
  ),
])
export type Channel = Static<typeof Channel>

export const NotificationSettings = strict(
  {
    channels: Type.Array(Channel, { default: [], description: 'Where messages to people go.' }),
    timeout: seconds(10, 'One delivery', 1),
    give_up: period(86_400, 'A message that is not delivered by then is given up, and counted', 1),
  },
  'Messages to people about approvals, changed contracts and exceptions.',
)
export type NotificationSettings = Static<typeof NotificationSettings>

/** The part of the configuration that notifications read. */
export interface NotificationsConfig extends ApprovalsConfig {
  readonly notifications: NotificationSettings
}

/** What the schema cannot say of channels: names that are used twice. */
export function checkChannels({
  notifications: { channels },
}: {
  readonly notifications: Pick<NotificationSettings, 'channels'>
}): readonly LocatedMistake[] {
  return channels.flatMap((channel, index) => {
    const pointer = `/notifications/channels/${index}`
    const first = channels.findIndex(({ name }) => name === channel.name)
    return first === index
      ? []
      : [
          mistakeAt(
            `${pointer}/name`,
            `the channel name "${channel.name}" is used by channels[${first}] too`,
            'names are unique',
          ),
        ]
  })
}
