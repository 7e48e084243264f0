// Entry of a worker thread, plain JavaScript like preflight.js. For sources the compile cache has to be on before the first
// module is read; otherwise every thread loads the type stripper (27 MB). `workerData.module` is the module to run.
import module from 'node:module'
import { workerData } from 'node:worker_threads'

if (String(workerData.module).endsWith('.ts')) module.enableCompileCache?.()
await import(workerData.module)
