/** Child processes of a bench: started by fork, ready when they say so, measured from outside through /proc (Linux). */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Clock ticks a second in /proc/PID/stat: fixed at 100 on every Linux that Node runs on. */
const TICKS = 100

export interface Usage {
  /** CPU time of all threads so far, seconds, in steps of a hundredth. */
  readonly cpu: number
  /** Resident set now and at its highest, bytes. */
  readonly rss: number
  readonly peakRss: number
}

/** What a process has used; null once it is gone. */
export function usageOf(pid: number): Usage | null {
  try {
    // The name in parentheses may hold spaces; the fields after it do not.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
    return {
      cpu: (Number(fields[11]) + Number(fields[12])) / TICKS,
      rss: kibibytes('VmRSS') * 1024,
      peakRss: kibibytes('VmHWM') * 1024,
    }
  } catch {
    return null
  }
}

export interface Child {
  readonly pid: number
  /** The first message: what the child has to say when it is ready. */
  readonly ready: unknown
  readonly process: ChildProcess
  stop(): Promise<void>
  /** Resolves once it has ended by itself. */
  ended(): Promise<void>
}

/** Forks a module of this folder and waits for its first message. Its own output goes to this process's stderr. */
export async function startChild(module: string, argument: unknown = null): Promise<Child> {
  const child = fork(join(import.meta.dirname, module), [JSON.stringify(argument)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // The command line turns the compile cache on; what is measured here starts the same way.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'preflight-bench-cache') },
  })
  const exited = once(child, 'exit')
  const first = await Promise.race([once(child, 'message'), exited.then(() => null)])
  if (first === null || child.pid === undefined) throw new Error(`${module} ended before it was ready`)
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill()
    await exited
  }
  const ended = async (): Promise<void> => {
    await exited
  }
  return { pid: child.pid, ready: first[0], process: child, stop, ended }
}

/** The argument that `startChild` handed over, in the child. */
export function childArgument(): unknown {
  return JSON.parse(process.argv[2] ?? 'null')
}

export function sendToParent(message: unknown): void {
  process.send?.(message)
}

/** A port number as `tellParent` sends it. */
export function portOf(child: Child): number {
  const { ready } = child
  if (typeof ready !== 'object' || ready === null || !('port' in ready) || typeof ready.port !== 'number') {
    throw new TypeError('the child did not say which port it listens on')
  }
  return ready.port
}
