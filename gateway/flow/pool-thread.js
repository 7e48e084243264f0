// Entry of a thread of the pool, plain JavaScript for the reason that gateway/runtime/thread.js gives: without the compile cache each
// thread strips the types of the whole engine anew, half a second and 30 MB. What the pool calls is in worker.ts.
import { existsSync } from 'node:fs'
import module from 'node:module'

module.enableCompileCache?.()
const source = new URL('./worker.ts', import.meta.url)
export const { run } = await import(existsSync(source) ? source.href : new URL('./worker.js', import.meta.url).href)
