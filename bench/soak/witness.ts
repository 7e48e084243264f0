/** Loaded into the gateway's process by the soak. On SIGUSR2 it collects garbage and writes the remaining memory to stderr as one line. */
import { writeSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const STDERR = 2

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  process.on('SIGUSR2', () => {
    // Twice: finalizers of the first collection free more.
    if (typeof collect === 'function') for (let turn = 0; turn < 2; turn += 1) collect()
    const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage()
    const resources: Record<string, number> = {}
    for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
    const line = JSON.stringify({ event: 'soak', rss, heapUsed, external, arrayBuffers, resources })
    writeSync(STDERR, `${line}\n`)
  })
}
