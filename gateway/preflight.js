#!/usr/bin/env node
// The one plain-JavaScript file: it must run on any Node to say clearly that another one is needed.
// It turns the compile cache on and hands over to the command line (TypeScript here, JavaScript in the package).
import { existsSync } from 'node:fs'
import module from 'node:module'

const REQUIRED_MAJOR = 24
const major = Number(process.versions.node.split('.')[0])

if (major !== REQUIRED_MAJOR) {
  process.stderr.write(
    `preflight: Node.js ${REQUIRED_MAJOR} is required, this is ${process.version} (${process.execPath}).\n` +
      `Run it through npm (npm start, npm run preflight -- …): the project brings its own Node ${REQUIRED_MAJOR} in node_modules/.bin.\n` +
      `If node_modules/.bin/node is missing, install again without --omit=optional.\n`,
  )
  process.exitCode = 2
} else {
  module.enableCompileCache?.()
  const source = new URL('./cli/main.ts', import.meta.url)
  const entry = existsSync(source) ? source : new URL('./cli/main.js', import.meta.url)
  const { main } = await import(entry.href)
  process.exitCode = await main(process.argv.slice(2))
}
