/**
 * Files of a git repository at a ref, read with git and without a shell. A ref or path from outside is never read as an
 * option, a pattern or another object.
 */
import { isUtf8 } from 'node:buffer'
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { fail, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { processEnvironment, variable } from '../settings/environment.ts'

export interface GitReference {
  readonly ref: string
  readonly path: string
}

/** The tree that a ref named when it was asked: later reads are of the same state, whatever becomes of the branch. */
interface GitTree {
  readonly ref: string
  readonly tree: string
}

/** Branches, tags, commits and `HEAD~2`: what git-check-ref-format admits, without `@{…}`, `:/text` and the like. */
export const GIT_REF = /^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}(?:[~^][0-9]{0,4}){0,4}$/
const TIMEOUT_MS = 15_000
/** `<object> SP <type> SP <size> LF` before, and LF after, the content of each object (git-cat-file(1), BATCH OUTPUT). */
const BATCH_HEADER = /^([0-9a-f]{40,64}) ([a-z]+) ([0-9]+)$/
/** What git prints in place of an object, with `<size> LF <text> LF` behind it, where a path leads over a link that is not followed. */
const LINK_HEADER = /^(symlink|dangling|loop|notdir) ([0-9]+)$/
const LINKS: ReadonlyMap<string, string> = new Map([
  ['symlink', 'is a link to a file outside the repository'],
  ['dangling', 'is a link to a file that is not there'],
  ['loop', 'is a link that leads back to itself'],
])
const HEADER_BYTES = 128
/** Of the names of the files below one folder. */
const MAX_LISTING = 4 * 1024 * 1024
/** Longer paths than file systems hold are no files, and what git says of them repeats them. */
const MAX_PATH = 4096

/** `<ref>:<path>` (docs/reference/api.md#post-apidiff); null when the text is not of that form, such as an inline document. */
export function parseGitReference(text: string): GitReference | null {
  const match = /^([^\s:{}[\]"']+):([^\s:][^\r\n\t]*)$/.exec(text)
  return match?.[1] === undefined || match[2] === undefined ? null : { ref: match[1], path: match[2] }
}

/** @param repository working directory or bare repository */
export async function resolveGitTree(repository: string, ref: string): Promise<Result<GitTree>> {
  if (!GIT_REF.test(ref) || ref.includes('..') || ref.endsWith('.lock')) {
    return unreadableFromGit(`"${ref}" is not the name of a branch, a tag or a commit`)
  }
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{tree}`]
  const named = await runGit(repository, args, { maxBytes: 1024 })
  if (!named.ok) return named
  const tree = named.value.toString('latin1').trim()
  return /^[0-9a-f]{40,64}$/.test(tree) ? ok({ ref, tree }) : unreadableFromGit(`the repository knows no ref "${ref}"`)
}

/**
 * Texts by path. Links are followed as far as they lead to a file of the same tree. A path at which the tree holds nothing is
 * left out. A path that leads out of the repository, holds no file or is too large is a problem.
 * @param paths relative to the root of the repository
 * @param maxBytes of all files together
 */
export async function readGitFiles(
  repository: string,
  { ref, tree }: GitTree,
  paths: readonly string[],
  maxBytes: number,
): Promise<Result<ReadonlyMap<string, string>>> {
  const strange = paths.find((path) => !isPlainPath(path))
  if (strange !== undefined) {
    return unreadableFromGit(
      `"${strange.slice(0, 200)}" is not a path inside the repository: write it relative to its root, without "." and ".."`,
    )
  }
  const input = paths.map((path) => `${tree}:${path}\n`).join('')
  const room = paths.length * (HEADER_BYTES + MAX_PATH)
  const args = ['cat-file', '--batch', '--follow-symlinks']
  const printed = await runGit(repository, args, { maxBytes: maxBytes + room, input })
  return printed.ok ? filesIn(printed.value, ref, paths) : printed
}

/**
 * One file; that there is none is a problem, too.
 * @param maxBytes of the file; a larger one is a problem
 */
export async function readGitFile(
  repository: string,
  tree: GitTree,
  path: string,
  maxBytes: number,
): Promise<Result<string>> {
  const read = await readGitFiles(repository, tree, [path], maxBytes)
  if (!read.ok) return read
  const text = read.value.get(path)
  return text === undefined ? unreadableFromGit(`the repository has no file "${path}" at ${tree.ref}`) : ok(text)
}

/** Paths of the files below a folder, relative to it; the root is ''. None where the tree has no such folder. */
export async function listGitFolder(
  repository: string,
  { tree }: GitTree,
  folder: string,
): Promise<Result<readonly string[]>> {
  if (folder !== '' && !isPlainPath(folder)) return ok([])
  const kind = await runGit(repository, ['cat-file', '-t', `${tree}:${folder}`], { maxBytes: 1024 })
  if (!kind.ok || kind.value.toString('latin1').trim() !== 'tree') return ok([])
  const listed = await runGit(repository, ['ls-tree', '-r', '-z', '--name-only', `${tree}:${folder}`], {
    maxBytes: MAX_LISTING,
  })
  return listed.ok ? ok(listed.value.toString('utf8').split('\0').filter(Boolean)) : listed
}

/** When one of the paths was last changed on the way to a ref, milliseconds since the epoch; null when git cannot tell. */
export async function gitFilesChangedAt(
  repository: string,
  ref: string,
  paths: readonly string[],
): Promise<number | null> {
  if (!GIT_REF.test(ref) || !paths.every(isPlainPath)) return null
  const log = await runGit(repository, ['log', '-1', '--format=%ct', '--end-of-options', ref, '--', ...paths], {
    maxBytes: 1024,
  })
  const seconds = log.ok ? log.value.toString('latin1').trim() : ''
  return /^[0-9]+$/.test(seconds) ? Number(seconds) * 1000 : null
}

/** The objects of a batch, in the order in which they were asked for. */
function filesIn(printed: Buffer, ref: string, paths: readonly string[]): Result<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  let at = 0
  for (const path of paths) {
    const end = printed.indexOf('\n', at)
    const header = printed.toString('utf8', at, end)
    const [, , type, size] = BATCH_HEADER.exec(header) ?? []
    at = end + 1
    const [, link = '', length] = LINK_HEADER.exec(header) ?? []
    if (length !== undefined) {
      const fault = LINKS.get(link)
      if (fault !== undefined) return unreadableFromGit(`${ref}:${path} ${fault}`)
      at += Number(length) + 1
      continue
    }
    // Any other line says that there is no such object.
    if (type === undefined || size === undefined) continue
    if (type !== 'blob') return unreadableFromGit(`${ref}:${path} is a ${type}, not a file`)
    const content = printed.subarray(at, at + Number(size))
    if (!isUtf8(content)) return unreadableFromGit(`${ref}:${path} is not UTF-8 text`)
    files.set(path, content.toString('utf8'))
    at += Number(size) + 1
  }
  return ok(files)
}

function isPlainPath(path: string): boolean {
  if (path.length > MAX_PATH || /[\\\p{Cc}]/u.test(path)) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

function unreadableFromGit(message: string): Result<never> {
  return fail({ code: 'ARTIFACT_UNREADABLE', message: `${message}.` })
}

/** Part of the problem when git looked for a ref, and there is none. */
export const NO_SUCH_REF = 'the repository knows no such ref'

interface GitInput {
  /** Of the output. */
  readonly maxBytes: number
  readonly input?: string
}

export function runGit(
  repository: string,
  args: readonly string[],
  { maxBytes, input = '' }: GitInput,
): Promise<Result<Buffer>> {
  const options = {
    cwd: resolve(repository),
    env: gitEnvironment(),
    encoding: 'buffer',
    maxBuffer: maxBytes,
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    windowsHide: true,
  } as const
  return new Promise((done) => {
    const child = execFile('git', [...args], options, (error, stdout, stderr) => {
      if (error === null) done(ok(stdout))
      else done(unreadableFromGit(`git failed: ${gitReason(error, stderr.toString('utf8'), options.cwd)}`))
    })
    // Git may end before it has read all; what it says of that reaches the callback.
    child.stdin?.on('error', () => child.stdin?.destroy())
    child.stdin?.end(input)
  })
}

/** Nothing of the surroundings may point git elsewhere, ask a question or fetch. */
function gitEnvironment(): Record<string, string> {
  const environment = processEnvironment()
  return {
    PATH: variable(environment, 'PATH') ?? '/usr/bin:/bin',
    HOME: variable(environment, 'HOME') ?? '/nonexistent',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
  }
}

/** What git prints about a folder that it does not read, and what a person needs to know about it. */
const UNREAD_FOLDERS: readonly (readonly [printed: string, reason: string])[] = [
  ['not a git repository', 'is not a git repository, nor is it in one; use a clone'],
  ['dubious ownership', 'belongs to another user; run preflight as its owner (in Docker: --user "$(id -u):$(id -g)")'],
]

function gitReason(error: Error & { readonly code?: string | number | null }, stderr: string, folder: string): string {
  if (error.code === 'ENOENT') return 'git is not installed, or the repository directory does not exist'
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'the file is larger than the limit'
  const line = stderr.trim().split('\n', 1)[0] ?? ''
  const unread = UNREAD_FOLDERS.find(([printed]) => line.includes(printed))
  if (unread !== undefined) return `the folder ${folder} ${unread[1]}`
  if (line !== '') return line.replace(/^fatal: /, '')
  // `rev-parse --quiet` says nothing of a name that it does not know.
  return error.code === 1 ? NO_SUCH_REF : error.message
}
