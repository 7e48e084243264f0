/** GitLab's quick actions: commands at the beginning of a line of what people write. https://docs.gitlab.com/user/project/quick_actions/ */
import { UnreadableIntent } from './intent.ts'
import { splitNames } from './name-list.ts'

type QuickAction =
  | 'merges'
  /** Commits of the target come into the source. */
  | 'rebases'
  | 'approves'
  /** Gives a request another target. */
  | 'retargets'
  /** Changes whether a merge beside it would be done. */
  | 'marks'
  | 'harmless'
  | 'unknown'

const NAMES: Readonly<Record<Exclude<QuickAction, 'unknown'>, readonly string[]>> = {
  merges: ['merge', 'ship'],
  rebases: ['rebase'],
  approves: ['approve', 'submit_review'],
  retargets: ['target_branch'],
  marks: ['ready', 'draft', 'wip'],
  harmless: splitNames(
    'add_child add_contacts add_email alert assign assign_reviewer award blocked_by blocks board_move cc',
    'checkin_reminder child_epic clear_health_status clear_weight clone close confidential',
    'convert_to_ticket copy_metadata create_merge_request done due duplicate epic estimate estimate_time',
    'health_status invite_email iteration label labels link lock milestone move page parent_epic promote',
    'promote_to promote_to_incident publish react reassign reassign_reviewer relabel relate remove_child',
    'remove_child_epic remove_contacts remove_due_date remove_email remove_epic remove_estimate',
    'remove_iteration remove_label remove_milestone remove_parent remove_parent_epic remove_reviewer',
    'remove_time_spent remove_zoom reopen request_changes request_review set_parent severity shrug spend',
    'spend_time spent status subscribe tableflip tag timeline title todo type unapprove unassign',
    'unassign_reviewer unlabel unlink unlock unrelate unsubscribe weight zoom',
  ),
}

const KINDS: ReadonlyMap<string, QuickAction> = new Map(
  (['merges', 'rebases', 'approves', 'retargets', 'marks', 'harmless'] as const).flatMap((kind) =>
    NAMES[kind].map((name) => [name, kind] as const),
  ),
)

// A line that is written as an escape may be unescaped once more behind the gateway.
const COMMAND = /(?:^|\\[nr])[^\S\n\r\u2028\u2029]*\/([a-z][\w-]*)(.?)/gim

/** What the commands in a text do; a line with the path of a file in it holds none. */
export function quickActionsIn(text: string): ReadonlySet<QuickAction> {
  const found = new Set<QuickAction>()
  for (const [, name = '', next = ''] of textReadings(text).flatMap((one) => [...one.matchAll(COMMAND)])) {
    const kind = KINDS.get(name.toLowerCase())
    // What ends a name is up to the platform; a word that it does not know stands alone at least.
    if (kind !== undefined) found.add(kind)
    else if (next === '' || /\s/.test(next)) found.add('unknown')
  }
  return found
}

/**
 * The text, and what it is without carriage returns. GitLab removes them before it looks for commands and keeps the text, and bots
 * get what it keeps.
 */
export function textReadings(text: string): readonly string[] {
  const readings = [text, text.replaceAll('\r', ''), text.replaceAll(/\r|\\r/g, '')]
  return [...new Set(readings)]
}

/** Every text in a value, however deep. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Buffer.isBuffer(value)) return [value.toString('utf8')]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/** @throws UnreadableIntent for a command that lands or approves something, or may */
export function refuseQuickActions(value: unknown): void {
  const actions = quickActionsOf(value)
  if (actions.has('merges') || actions.has('rebases') || actions.has('approves'))
    throw new UnreadableIntent(
      'a text that merges, rebases or approves is not judged here; do it by a request of its own.',
    )
  refuseUnknown(actions)
}

export function quickActionsOf(value: unknown): ReadonlySet<QuickAction> {
  return new Set(textsIn(value).flatMap((text) => [...quickActionsIn(text)]))
}

/** For texts of a request that is there: a parameter names the target in a form that is judged. @throws UnreadableIntent */
export function refuseOtherTarget(actions: ReadonlySet<QuickAction>): void {
  if (actions.has('retargets'))
    throw new UnreadableIntent(
      'a text that gives its request another target is not judged here; send target_branch in a PUT of the request.',
    )
}

/** @throws UnreadableIntent */
export function refuseUnknown(actions: ReadonlySet<QuickAction>): void {
  if (actions.has('unknown'))
    throw new UnreadableIntent(
      'a line begins with a command that is not known here, and it might merge; begin the line with another character.',
    )
}
