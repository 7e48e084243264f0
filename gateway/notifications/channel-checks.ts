/** What the schema cannot say of channels: names twice, addresses that cannot be. */
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { at } from '../settings/mistake-collector.ts'
import type { Channel, NotificationSettings } from './settings.ts'

export function checkChannels({
  notifications: { channels },
}: {
  readonly notifications: Pick<NotificationSettings, 'channels'>
}): readonly LocatedMistake[] {
  return channels.flatMap((channel, index) => {
    const pointer = `/notifications/channels/${index}`
    const first = channels.findIndex(({ name }) => name === channel.name)
    const [member, address] = channelAddress(channel)
    return [
      ...(first === index
        ? []
        : [at(`${pointer}/name`, `is the name of channels[${first}] too`, 'give each channel a name')]),
      ...(URL.canParse(address) ? [] : [at(`${pointer}/${member}`, 'is not a URL', 'write the whole address')]),
    ]
  })
}

function channelAddress(channel: Channel): readonly [member: string, address: string] {
  if (channel.type === 'email') return ['smtp', channel.smtp]
  return channel.type === 'slack_bot' ? ['api', channel.api] : ['url', channel.url]
}
