/** Intents → resource checks: what each would change is derived from the platform, with the credentials of the request. */
import { GatewayError } from '../../errors/errors.ts'
import { derivedCompleteness, deriveChangeSet, deriveWritten, type DerivedChangeSet } from '../../scm/derivation.ts'
import type { DerivationTerms } from '../../scm/selector.ts'
import { PLATFORMS, type MergeRequest, type RepositoryFacts, type ScmClient } from '../../scm/platform.ts'
import { isCommitId } from '../../scm/members.ts'
import { orAbsent } from '../../scm/scm-error.ts'
import type { ResourceCheck } from '../common/action.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import { UnreadableIntent, type FileWrite, type ScmIntent } from './intent.ts'
import { NAME_STAYS } from './name-stays.ts'
import { refuseWaitingHead } from './waiting-merge.ts'

interface CheckTerms {
  readonly derivation: DerivationTerms
  /** When the control over a repository was proven by the caller's tenant; null: it was not. */
  readonly provenAt: (repository: string) => Promise<string | null>
  readonly isProtected: (branch: string) => boolean
}

/** A check, and what must still hold when the request is sent. */
export interface PinnedCheck {
  readonly check: ResourceCheck
  /** Rejects when what was judged is not what would be done now. */
  readonly confirm: () => Promise<void>
}

type IntentOf<Kind extends ScmIntent['kind']> = Extract<ScmIntent, { readonly kind: Kind }>
type ResourcePlace = NonNullable<JudgedResource['place']>

interface CheckedIntent {
  readonly name: string
  readonly target: string
  readonly operation: string
  readonly place: ResourcePlace
  /** Absent: the request makes it. */
  readonly commit?: string
  readonly change: DerivedChangeSet
  readonly confirm: () => Promise<void>
}

export async function pinnedCheck(intent: ScmIntent, client: ScmClient, terms: CheckTerms): Promise<PinnedCheck> {
  const facts = await client.facts()
  const { change, confirm, place, ...rest } = await checkedIntent(intent, { client, facts, terms })
  const { artifacts, unreadable } = change
  // A shipment moves no branch.
  const landed = rest.operation === 'merge' ? (place.branch ?? null) : null
  const refuseWaiting = async (): Promise<void> => {
    if (landed !== null && !terms.isProtected(landed))
      await refuseWaitingHead(client, landed, intent.kind === 'merge_branches' ? intent.head : null)
  }
  await refuseWaiting()
  const completeness = derivedCompleteness(change, await terms.provenAt(facts.name))
  const resource = { ...rest, scope: null, place: { repository: facts.name, ...place } }
  return {
    check: { resource, basis: { kind: 'change_set', artifacts, unreadable, completeness } },
    async confirm() {
      await confirm()
      await refuseWaiting()
    },
  }
}

interface DerivationContext {
  readonly client: ScmClient
  readonly facts: RepositoryFacts
  readonly terms: CheckTerms
}

/** One way to ask for each kind of intent. */
const DERIVATIONS: {
  readonly [Kind in ScmIntent['kind']]: (intent: IntentOf<Kind>, scene: DerivationContext) => Promise<CheckedIntent>
} = {
  merge_request: mergeOfRequest,
  merge_branches: mergeOfBranches,
  move_branch: moveOfBranch,
  move_tag: moveOfTag,
  write_files: writeOfFiles,
  ship: shipment,
}

function checkedIntent<Kind extends ScmIntent['kind']>(
  intent: IntentOf<Kind> & { readonly kind: Kind },
  scene: DerivationContext,
): Promise<CheckedIntent> {
  const derive: (intent: IntentOf<Kind>, scene: DerivationContext) => Promise<CheckedIntent> = DERIVATIONS[intent.kind]
  return derive(intent, scene)
}

async function mergeOfRequest(
  intent: IntentOf<'merge_request'>,
  { client, facts, terms }: DerivationContext,
): Promise<CheckedIntent> {
  const request = await client.mergeRequest(intent.id)
  if (intent.head !== null && intent.head !== request.headSha) throw moved(intent.head, request.headSha)
  await refuseHeadRemoval(intent, request, { client, facts, terms })
  const base = intent.onto ?? request.base
  const baseSha = await client.branchTip(base)
  const change = await deriveChangeSet(
    client,
    {
      base: baseSha,
      head: request.headSha,
      kind: mergeKind(intent, request, facts),
      // The platform tried the merge into the base that the request has.
      trialMerge: intent.onto === null ? request.trialMerge : null,
    },
    terms.derivation,
  )
  return {
    name: `merge ${facts.name}#${intent.id}`,
    target: targetOf(client, facts, `#${intent.id}`),
    operation: 'merge',
    place: { branch: base, pull_request: intent.id, base, head: request.head },
    commit: request.headSha,
    change,
    async confirm() {
      const now = await client.mergeRequest(request.id)
      if (now.headSha !== request.headSha) throw moved(request.headSha, now.headSha)
      if (now.base !== request.base) throw stale(`its base is ${now.base} now and was ${request.base}`)
      await refuseHeadRemoval(intent, now, { client, facts, terms })
      await confirmTip(client, base, baseSha)
    },
  }
}

function mergeKind(
  { isRebase }: IntentOf<'merge_request'>,
  request: MergeRequest,
  facts: RepositoryFacts,
): 'merge' | 'rebase' | 'rebase_when_behind' {
  if (isRebase ?? request.isRebase) return 'rebase'
  return facts.isRebasedWhenBehind ? 'rebase_when_behind' : 'merge'
}

/** The name of a protected branch would be free then, as with every other removal (removal.ts). */
async function refuseHeadRemoval(
  { removesHead, onto }: IntentOf<'merge_request'>,
  request: MergeRequest,
  { client, facts, terms }: DerivationContext,
): Promise<void> {
  const isRemoved = removesHead ?? (request.removesHead || facts.removesHeads)
  if (onto !== null || !isRemoved || request.isFromElsewhere || !terms.isProtected(request.head)) return
  if (await client.keepsBranch(request.head)) return
  throw new UnreadableIntent(
    `the platform deletes ${request.head} after this merge, and ${NAME_STAYS}. Turn the removal of the source branch off, or protect ${request.head} at the platform.`,
  )
}

async function mergeOfBranches(
  intent: IntentOf<'merge_branches'>,
  { client, facts, terms }: DerivationContext,
): Promise<CheckedIntent> {
  const [base, head] = await Promise.all([client.branchTip(intent.base), namedCommit(client, intent.head)])
  return {
    name: `merge ${intent.head} into ${facts.name}@${intent.base}`,
    target: targetOf(client, facts, `@${intent.base}`),
    operation: 'merge',
    place: { branch: intent.base, base: intent.base, head: intent.head },
    commit: head,
    change: await deriveChangeSet(client, { base, head, kind: 'merge', trialMerge: null }, terms.derivation),
    async confirm() {
      await confirmTip(client, intent.base, base)
      const now = await namedCommit(client, intent.head)
      if (now !== head) throw moved(head, now)
    },
  }
}

/**
 * A branch that is set to a commit loses its previous commits, so nothing is merged. A new one brings the commits that
 * the default branch does not have: otherwise a protected branch could be deleted and created again from anything.
 */
async function moveOfBranch(
  intent: IntentOf<'move_branch'>,
  { client, facts, terms }: DerivationContext,
): Promise<CheckedIntent> {
  const tip = await orAbsent(() => client.branchTip(intent.branch))
  const onto = tip === null ? facts.defaultBranch : intent.branch
  const base = tip ?? (await client.branchTip(facts.defaultBranch))
  const head = await namedCommit(client, intent.commit)
  const kind = tip === null ? 'branch' : 'replace'
  return {
    name: `set ${facts.name}@${intent.branch} to ${intent.commit}`,
    target: targetOf(client, facts, `@${intent.branch}`),
    operation: 'merge',
    place: { branch: intent.branch, base: onto, head },
    commit: head,
    change: await deriveChangeSet(client, { base, head, kind, trialMerge: null }, terms.derivation),
    async confirm() {
      if (tip === null && (await orAbsent(() => client.branchTip(intent.branch))) !== null)
        throw stale(`${intent.branch} is there now`)
      await confirmTip(client, onto, base)
      const now = await namedCommit(client, intent.commit)
      if (now !== head) throw moved(head, now)
    },
  }
}

/** Who uses a release by its tag gets another commit. */
async function moveOfTag(
  { tag, commit }: IntentOf<'move_tag'>,
  { client, facts, terms }: DerivationContext,
): Promise<CheckedIntent> {
  const base = await client.tagged(tag)
  if (base === null) throw new UnreadableIntent(`there is no tag ${tag} to move.`)
  const head = await namedCommit(client, commit)
  return {
    name: `set the tag ${tag} of ${facts.name} to ${commit}`,
    target: targetOf(client, facts, tagTarget(tag)),
    operation: 'publish',
    place: { branch: `refs/tags/${tag}`, head },
    commit: head,
    change: await deriveChangeSet(client, { base, head, kind: 'replace', trialMerge: null }, terms.derivation),
    async confirm() {
      const now = await client.tagged(tag)
      if (now !== base) throw stale(`the tag ${tag} is at ${now ?? 'no commit'} now and was at ${base}`)
      const headNow = await namedCommit(client, commit)
      if (headNow !== head) throw moved(head, headNow)
    },
  }
}

async function writeOfFiles(
  intent: IntentOf<'write_files'>,
  { client, facts, terms }: DerivationContext,
): Promise<CheckedIntent> {
  const branch = intent.branch ?? facts.defaultBranch
  const base = await client.branchTip(branch)
  refuseOtherParents(intent.parents ?? [], branch, base)
  const written = await contentsOf(intent.writes, client, base)
  return {
    name: `write ${intent.writes.map(({ path }) => path).join(', ')} to ${facts.name}@${branch}`.slice(0, 300),
    target: targetOf(client, facts, `@${branch}`),
    operation: 'merge',
    place: { branch, base: branch },
    change: await deriveWritten(client, { base, written }, terms.derivation),
    confirm: () => confirmTip(client, branch, base),
  }
}

/** All that another parent has would come to the branch with the commit, or count as merged. */
function refuseOtherParents(parents: readonly string[], branch: string, tip: string): void {
  if (parents.every((parent) => parent.length >= SHORT_ID && tip.startsWith(parent.toLowerCase()))) return
  throw new UnreadableIntent(`it names other parents than the tip of ${branch}; leave them out.`)
}

/** Digits of a shortened commit id. */
const SHORT_ID = 7

async function contentsOf(
  writes: readonly FileWrite[],
  client: ScmClient,
  base: string,
): Promise<ReadonlyMap<string, Buffer | null>> {
  const written = new Map<string, Buffer | null>()
  for (const write of writes) {
    if (write.kind === 'content') written.set(write.path, write.content)
    else if (write.kind === 'removal') written.set(write.path, null)
    else {
      const content =
        write.content ?? (await movedContent(write.from, written, (from) => contentAt(client, from, base)))
      written.set(write.from, null)
      written.set(write.path, content)
    }
  }
  return written
}

/** Writes are made one after the other: a file that an earlier one wrote is moved as it is then. */
async function movedContent(
  from: string,
  written: ReadonlyMap<string, Buffer | null>,
  contentBefore: (path: string) => Promise<Buffer>,
): Promise<Buffer> {
  const earlier = written.get(from)
  if (earlier === undefined) return contentBefore(from)
  if (earlier === null) throw new UnreadableIntent(`${from} is moved, and is not there any more.`)
  return earlier
}

async function contentAt(client: ScmClient, path: string, commit: string): Promise<Buffer> {
  const file = await client.file(path, commit)
  if (file.kind === 'text') return Buffer.from(file.text)
  const why = file.kind === 'absent' ? 'it is not there' : file.problem.message
  throw new GatewayError('PREFLIGHT_UNDECIDED', `The file that is moved, ${path}, could not be read: ${why}`)
}

/** From the deployed or published state to the new one; a first one changes nothing for anybody. */
async function shipment(intent: IntentOf<'ship'>, { client, facts, terms }: DerivationContext): Promise<CheckedIntent> {
  const { ref, head } = await shippedCommit(intent, client, facts)
  const base = (await client.previous(intent.since)) ?? head
  return {
    name: `${intent.operation} ${facts.name}@${ref} as ${intent.label}`,
    target: targetOf(client, facts, `/${intent.label}`),
    operation: intent.operation,
    place: { branch: ref, head },
    commit: head,
    change: await deriveChangeSet(client, { base, head, kind: 'replace', trialMerge: null }, terms.derivation),
    async confirm() {
      const now = await shippedCommit(intent, client, facts)
      if (now.head !== head) throw moved(head, now.head)
    },
  }
}

/** A release is that of its tag, if the tag exists: what else the request names counts for a new tag only. */
async function shippedCommit(
  { ref, since, label }: IntentOf<'ship'>,
  client: ScmClient,
  { defaultBranch }: RepositoryFacts,
): Promise<{ readonly ref: string; readonly head: string }> {
  const tagged = since.kind === 'release' ? await client.tagged(label) : null
  if (tagged !== null) return { ref: label, head: tagged }
  const named = ref ?? defaultBranch
  return { ref: named, head: await namedCommit(client, named) }
}

/** Platforms differ in what they take a name for that is both a branch and a tag, and each does by the kind of request. */
async function namedCommit(client: ScmClient, ref: string): Promise<string> {
  if (isCommitId(ref)) return ref
  const branch = await orAbsent(() => client.branchTip(ref))
  const tag = branch === null ? null : await client.tagged(ref)
  if (branch !== null && tag !== null && branch !== tag)
    throw new UnreadableIntent(`${ref} is a branch and a tag of different commits; name the commit.`)
  return branch ?? client.commitOf(ref)
}

async function confirmTip(client: ScmClient, branch: string, judged: string): Promise<void> {
  const now = await client.branchTip(branch)
  if (now !== judged) throw stale(`${branch} is at ${now} now and was at ${judged}`)
}

/** How a target names a tag, behind the repository: no ref has a colon in its name. */
export function tagTarget(tag: string): string {
  return `@tag:${tag}`
}

function targetOf({ platform }: ScmClient, { name }: RepositoryFacts, rest: string): string {
  return `${PLATFORMS[platform].name}:${name}${rest}`
}

function moved(judged: string, now: string): GatewayError {
  return stale(`its head is ${now} and not ${judged}`)
}

function stale(what: string): GatewayError {
  return new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `This is no longer what was judged: ${what}. Nothing was sent; review it and repeat the call.`,
  )
}
