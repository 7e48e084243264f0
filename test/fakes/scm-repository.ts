/** A small repository in memory, with commits, branches, tags and merge requests: what the fake platforms serve. */
import { createHash } from 'node:crypto'

export type Files = Readonly<Record<string, string | Buffer>>

export interface FakeCommit {
  readonly id: string
  readonly parents: readonly string[]
  readonly files: ReadonlyMap<string, Buffer>
}

export interface FakeMergeRequest {
  readonly id: number
  readonly base: string
  readonly head: string
  state: 'open' | 'closed' | 'merged'
  trialMerge: string | null
  /** Its merge deletes its head branch. */
  removesHead: boolean
  /** It merges by itself once its checks pass. */
  waits: boolean
}

export interface FakeChange {
  readonly status: 'added' | 'modified' | 'removed' | 'renamed'
  readonly path: string
  readonly before: string | null
}

export class FakeRepository {
  readonly commits = new Map<string, FakeCommit>()
  readonly branches = new Map<string, string>()
  readonly tags = new Map<string, string>()
  readonly mergeRequests = new Map<number, FakeMergeRequest>()
  readonly name: string
  /** By id, as GitHub has them; the one that is there at first is a draft. */
  readonly releases = new Map([[1, { draft: true, target_commitish: 'main' }]])
  defaultBranch = 'main'
  /** Of GitHub: name of the repository that this one is a fork of. */
  parent: string | null = null
  /** Every merge deletes the head branch. */
  removesHeads = false
  /** Of GitLab: `merge`, `rebase_merge` or `ff`. */
  mergeMethod = 'merge'
  /** By which Bitbucket merges, and the merge queue of GitHub. */
  strategy = 'merge_commit'
  /** Branches that the platform does not delete. */
  readonly kept = new Set<string>()
  #count = 0

  constructor(name: string, files: Files) {
    this.name = name
    this.commit('main', files)
  }

  /** A commit on top of a branch; `null` removes a file. Answers its id. */
  commit(branch: string, changes: Readonly<Record<string, string | Buffer | null>>, from = branch): string {
    const parent = this.branches.get(from) ?? null
    const files = new Map(parent === null ? [] : this.at(parent).files)
    for (const [path, content] of Object.entries(changes)) {
      if (content === null) files.delete(path)
      else files.set(path, Buffer.from(content))
    }
    const id = this.#add(files, parent === null ? [] : [parent])
    this.branches.set(branch, id)
    return id
  }

  /** A commit of two parents, on no branch. */
  mergeCommit(base: string, head: string, files: Files): string {
    const all = new Map(this.at(base).files)
    for (const [path, content] of Object.entries(files)) all.set(path, Buffer.from(content))
    return this.#add(all, [base, head])
  }

  open(id: number, head: string, base = 'main'): FakeMergeRequest {
    const request: FakeMergeRequest = {
      id,
      base,
      head,
      state: 'open',
      trialMerge: null,
      removesHead: false,
      waits: false,
    }
    this.mergeRequests.set(id, request)
    return request
  }

  tip(branch: string): string {
    const id = this.branches.get(branch)
    if (id === undefined) throw new Error(`no branch ${branch}`)
    return id
  }

  at(id: string): FakeCommit {
    const found = this.find(id)
    if (found === null) throw new Error(`no commit ${id}`)
    return found
  }

  /** By the name of a branch or tag, or the beginning of an id. */
  find(ref: string): FakeCommit | null {
    const name = ref.replace(/^(?:refs\/)?heads\//, '')
    const id = this.branches.get(name) ?? this.tags.get(ref.replace(/^(?:refs\/)?tags\//, '')) ?? ref
    return [...this.commits.values()].find((commit) => id.length >= 7 && commit.id.startsWith(id)) ?? null
  }

  /** Commits that `to` has and `from` has not. */
  between(from: string, to: string): readonly FakeCommit[] {
    const known = this.#ancestors(from)
    return [...this.#ancestors(to)].filter((id) => !known.has(id)).map((id) => this.at(id))
  }

  mergeBase(a: string, b: string): string | null {
    const ancestors = this.#ancestors(a)
    return [...this.#ancestors(b)].find((id) => ancestors.has(id)) ?? null
  }

  changes(from: string, to: string, findRenames: boolean): readonly FakeChange[] {
    const before = this.at(from).files
    const after = this.at(to).files
    const removed = [...before.keys()].filter((path) => !after.has(path))
    const rows: FakeChange[] = []
    for (const [path, content] of after) {
      const contentBefore = before.get(path)
      if (contentBefore !== undefined) {
        if (!contentBefore.equals(content)) rows.push({ status: 'modified', path, before: path })
        continue
      }
      const source = findRenames ? removed.find((one) => before.get(one)?.equals(content)) : undefined
      if (source === undefined) rows.push({ status: 'added', path, before: null })
      else {
        removed.splice(removed.indexOf(source), 1)
        rows.push({ status: 'renamed', path, before: source })
      }
    }
    return [...rows, ...removed.map((path) => ({ status: 'removed', path, before: path }) as const)]
  }

  #add(files: ReadonlyMap<string, Buffer>, parents: readonly string[]): string {
    this.#count += 1
    const id = createHash('sha1').update(`${this.name} ${this.#count}`).digest('hex')
    this.commits.set(id, { id, parents, files })
    return id
  }

  #ancestors(start: string): ReadonlySet<string> {
    const seen = new Set<string>()
    const waiting = [start]
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      if (seen.has(id)) continue
      seen.add(id)
      waiting.push(...this.at(id).parents)
    }
    return seen
  }
}

export function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}
