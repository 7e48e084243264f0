/**
 * Commands in texts of people: quick actions of GitLab, and what bots beside every platform take from a comment. A bot merges
 * or deploys by its own rights, so the text counts as that call.
 */
import type { PlatformId } from '../../scm/platform.ts'
import { UnreadableIntent } from './intent.ts'
import { splitNames } from './name-list.ts'
import { refuseQuickActions, textReadings, textsIn } from './quick-actions.ts'

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
/** The first two words behind a sign at the beginning of a line. A path goes on with a slash or a dot. */
const SIGNED = /^[^\S\n]*[/.!](\S+)(?:[^\S\n]+(\S+))?/gm
/** `lgtm`, `deploy`, `merge-when-green`, `auto-merge`. */
const VERB = String.raw`(?:${LANDING})(?:-[\w-]+)?(?=[,;:!]|$)`
const FIRST_WORD = new RegExp(String.raw`^(?:[a-z]+-)*${VERB}`, 'i')
/** `deploy prod`, `trunk merge`. */
const BEFORE_VERB = /^[a-z][\w-]*$/i
const SECOND_WORD = new RegExp(`^${VERB}`, 'i')
/** A longer word is no command of any bot. Its letters are read at most this often. */
const LONGEST_WORD = 100

/** `/lgtm`, `/deploy prod`, `/merge-when-green`, `/trunk merge`, `.deploy`. */
const bySign: CommandSearch = (text) => {
  for (const [whole, one = '', two = ''] of text.matchAll(SIGNED)) {
    const [first, second] = [one.slice(0, LONGEST_WORD), two.slice(0, LONGEST_WORD)]
    if (FIRST_WORD.test(first) || (BEFORE_VERB.test(first) && SECOND_WORD.test(second))) return whole
  }
  return null
}

/** The command, where it begins; null: there is none. Takes time in proportion to the text. */
type CommandSearch = (text: string) => string | null

const by =
  (pattern: RegExp): CommandSearch =>
  (text) =>
    pattern.exec(text)?.[0] ?? null

/** By platform: at GitLab, what a sign stands before is a quick action or unknown, and is judged as that. */
const COMMANDS: Readonly<Record<PlatformId, readonly CommandSearch[]>> = {
  scm_a: [by(BY_NAME), by(BY_PROGRAM), bySign],
  scm_b: [by(BY_NAME), by(BY_PROGRAM)],
  scm_c: [by(BY_NAME), by(BY_PROGRAM), bySign],
}

/** The command for a bot in a text; null: it holds none. */
export function botCommandIn(platform: PlatformId, text: string): string | null {
  for (const reading of textReadings(text)) {
    const lines = reading.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    for (const search of COMMANDS[platform]) {
      const found = search(lines)
      if (found !== null) return found.trim()
    }
  }
  return null
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
