// Entry of a worker thread, plain JavaScript like preflight.js. The compile cache has to be on before the first TypeScript
// module is read; otherwise every thread loads the type stripper (27 MB). `workerData.module` is the module to run.
import module from 'node:module'
import { workerData } from 'node:worker_threads'

module.enableCompileCache?.()
await import(workerData.module)
