/** What the schema cannot say of channels: names twice, addresses that cannot be. */
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { at } from '../settings/mistake-collector.ts'
import type { NotificationSettings } from './settings.ts'

export function checkChannels({
  notifications: { channels },
}: {
  readonly notifications: Pick<NotificationSettings, 'channels'>
}): readonly LocatedMistake[] {
  return channels.flatMap((channel, index) => {
    const pointer = `/notifications/channels/${index}`
    const first = channels.findIndex(({ name }) => name === channel.name)
    const address = channel.type === 'email' ? channel.smtp : channel.url
    return [
      ...(first === index
        ? []
        : [at(`${pointer}/name`, `is the name of channels[${first}] too`, 'give each channel a name')]),
      ...(URL.canParse(address)
        ? []
        : [at(`${pointer}/${channel.type === 'email' ? 'smtp' : 'url'}`, 'is not a URL', 'write the whole address')]),
    ]
  })
}
