/** One file of a git repository at a ref, read with git and without a shell: what a stranger writes as ref or path is never an option, a pattern or another object. */
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { fail, ok, type Result } from '../../engine/index.ts'
import { processEnvironment, variable } from '../config/environment.ts'

export interface GitReference {
  readonly ref: string
  readonly path: string
}

/** Branches, tags, commits and `HEAD~2`: what git-check-ref-format admits, without `@{…}`, `:/text` and the like. */
const REF = /^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}(?:[~^][0-9]{0,4}){0,4}$/
const TIMEOUT_MS = 15_000

/** `<ref>:<path>` (wire.md §3); null when the text is not of that form, such as an inline document. */
export function parseGitReference(text: string): GitReference | null {
  const match = /^([^\s:{}[\]"']+):([^\s:][^\r\n\t]*)$/.exec(text)
  return match?.[1] === undefined || match[2] === undefined ? null : { ref: match[1], path: match[2] }
}

/**
 * @param repository working directory or bare repository
 * @param maxBytes of the file; a larger one is a problem
 */
export async function readGitFile(
  repository: string,
  { ref, path }: GitReference,
  maxBytes: number,
): Promise<Result<string>> {
  if (!REF.test(ref) || ref.includes('..') || ref.endsWith('.lock')) {
    return unreadable(`"${ref}" is not the name of a branch, a tag or a commit`)
  }
  if (!isPlainPath(path)) {
    return unreadable(
      `"${path}" is not a path inside the repository: write it relative to its root, without "." and ".."`,
    )
  }
  const object = `${ref}:${path}`
  const type = await git(repository, ['cat-file', '-t', '--end-of-options', object], 1024)
  if (!type.ok) return type
  if (type.value.trim() !== 'blob') return unreadable(`${object} is a ${type.value.trim()}, not a file`)
  return git(repository, ['cat-file', 'blob', '--end-of-options', object], maxBytes)
}

function isPlainPath(path: string): boolean {
  return !path.includes('\\') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

function unreadable(message: string): Result<never> {
  return fail({ code: 'ARTIFACT_UNREADABLE', message: `${message}.` })
}

function git(repository: string, args: readonly string[], maxBuffer: number): Promise<Result<string>> {
  const options = {
    cwd: resolve(repository),
    env: gitEnvironment(),
    maxBuffer,
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    windowsHide: true,
  } as const
  return new Promise((done) => {
    execFile('git', [...args], options, (error, stdout, stderr) => {
      if (error === null) done(ok(stdout))
      else done(unreadable(`git could not read it: ${reasonOf(error, stderr)}`))
    })
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

function reasonOf(error: Error & { readonly code?: string | number | null }, stderr: string): string {
  if (error.code === 'ENOENT') return 'git is not installed, or the repository directory does not exist'
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'the file is larger than the limit'
  const line = stderr.trim().split('\n', 1)[0] ?? ''
  return line === '' ? error.message : line.replace(/^fatal: /, '')
}
