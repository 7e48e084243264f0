/**
 * Commands in texts of people: quick actions of GitLab, and what bots beside every platform take from a comment. A bot merges
 * or deploys by its own rights, so the text counts as that call.
 */
import type { PlatformId } from '../../scm/platform.ts'
import { UnreadableIntent } from './intent.ts'
import { splitNames } from './name-list.ts'
import { refuseQuickActions, textsIn } from './quick-actions.ts'

/** Words of commands that bring something to a protected branch, deploy or publish it, or approve that. */
const LANDING = [
  String.raw`(?:auto-?)?(?:merge|squash|submit|queue|enqueue|land|ship)(?:-?it)?`,
  String.raw`approved?|lgtm|r\+|r=\S+|delegate[+=]?|deploy|release|publish|promote|apply|rollout|rollback`,
].join('|')

/** Bots that listen for their name. Other names are people, and a merge may be mentioned to them. */
const BOTS = splitNames(
  'aviator-app bors bors-ng dependabot dependabot-preview gitstream-cm graphite-app homu kodiakhq mergify mergifyio',
  'mergify-io pr-merge-bot renovate rultor trunk-io',
).join('|')

/** Programs that are named at the beginning of a line, without a sign before them. */
const PROGRAMS = splitNames('atlantis bors digger env0 homu pulumi spacelift terrateam').join('|')

/** The verb may follow other words: `please merge`, `squash and merge`. */
const BY_NAME = new RegExp(String.raw`@(?:${BOTS})(?:\[bot\])?\b[^\n\r]{0,40}?(?<![\w-])(?:${LANDING})(?![\w-])`, 'i')
const BY_PROGRAM = new RegExp(
  String.raw`^[^\S\n]*@?(?:${PROGRAMS}):?[^\S\n]+(?:\S+[^\S\n]+)?(?:${LANDING}|up|approve_policies)(?![\w-])`,
  'im',
)
/** `/lgtm`, `/deploy prod`, `/merge-when-green`, `/trunk merge`, `.deploy`. A path goes on with a slash or a dot. */
const BY_SIGN = new RegExp(
  String.raw`^[^\S\n]*[/.!](?:[a-z]+-)*(?:[a-z][\w-]*[^\S\n]+)?(?:${LANDING})(?:-[\w-]+)?(?=\s|[,;:!]|$)`,
  'im',
)

/** By platform: at GitLab, what a sign stands before is a quick action or unknown, and is judged as that. */
const COMMANDS: Readonly<Record<PlatformId, readonly RegExp[]>> = {
  scm_a: [BY_NAME, BY_PROGRAM, BY_SIGN],
  scm_b: [BY_NAME, BY_PROGRAM],
  scm_c: [BY_NAME, BY_PROGRAM, BY_SIGN],
}

/** The command for a bot in a text; null: it holds none. */
export function botCommandIn(platform: PlatformId, text: string): string | null {
  const lines = text.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
  const [found] = COMMANDS[platform].flatMap((command) => command.exec(lines)?.[0].trim() ?? [])
  return found ?? null
}

/** @throws UnreadableIntent for a text that a bot may merge, deploy or approve by */
export function refuseBotCommands(platform: PlatformId, value: unknown): void {
  for (const text of textsIn(value)) {
    const found = botCommandIn(platform, text)
    if (found !== null)
      throw new UnreadableIntent(
        `a text with a command for a bot that merges, deploys or approves ("${found.slice(0, 60)}") is refused. Send the merge or deployment as a request, or write the text another way.`,
      )
  }
}

/** @throws UnreadableIntent for a text by which something lands, or may */
export function refuseCommands(platform: PlatformId, value: unknown): void {
  if (platform === 'scm_b') refuseQuickActions(value)
  refuseBotCommands(platform, value)
}
