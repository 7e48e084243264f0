// Entry of a thread of the pool. It is plain JavaScript for the reason in gateway/runtime/thread.js. Without the compile cache
// each thread strips the types of the whole engine again: half a second and 30 MB. The pool calls worker.ts.
import { existsSync } from 'node:fs'
import module from 'node:module'

module.enableCompileCache?.()
const source = new URL('./worker.ts', import.meta.url)
export const { run } = await import(existsSync(source) ? source.href : new URL('./worker.js', import.meta.url).href)
