/**
 * One mutant on trial, in a process of its own: node trial.ts MUTANT.json TEST... The mutated module comes in place of its file,
 * which is never written to. Exit 1: some test failed, and the rest was not run.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { run } from 'node:test'

const [file = '', ...files] = process.argv.slice(2)
const mutant: unknown = JSON.parse(readFileSync(file, 'utf8'))
if (typeof mutant !== 'object' || mutant === null || !('url' in mutant) || !('code' in mutant))
  throw new TypeError(`${file} holds no mutant`)
const { url, code } = mutant

registerHooks({
  load: (address, context, next) =>
    address === url ? { format: 'module', source: String(code), shortCircuit: true } : next(address, context),
})

run({ files, isolation: 'none' }).on('test:fail', () => process.exit(1))
