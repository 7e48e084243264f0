#!/usr/bin/env node
// The one plain-JavaScript file: it must run on any Node to say clearly that another one is needed.
// It hands over to the command line (TypeScript here, JavaScript in the package).
import { existsSync } from 'node:fs'
import module from 'node:module'

/** The server is tested on this major only, and so are the sources. */
const SERVER_MAJOR = 24
/** All other commands of the package; as in package.json. */
const [LEAST_MAJOR, LEAST_MINOR] = [22, 19]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const isTooOld = major < LEAST_MAJOR || (major === LEAST_MAJOR && minor < LEAST_MINOR)
const source = new URL('./cli/main.ts', import.meta.url)
const isSource = existsSync(source)
const isPinned = isSource || ['serve', 'mcp'].includes(process.argv[2] ?? '')

if (isTooOld || (isPinned && major !== SERVER_MAJOR)) {
  const purpose = isSource ? 'to run from the sources' : 'to serve'
  const wanted = isPinned
    ? `Node.js ${SERVER_MAJOR} is required ${purpose}`
    : `Node.js ${LEAST_MAJOR}.${LEAST_MINOR} or newer is required`
  process.stderr.write(
    `preflight: ${wanted}, this is ${process.version} (${process.execPath}).\n` +
      `On Linux (x64, arm64) npm installs Node.js ${SERVER_MAJOR} with this package, in node_modules/.bin: run the command through npx or an npm script.\n` +
      `If node_modules/.bin/node is missing, install again without --omit=optional.\n` +
      `On other systems install Node.js ${SERVER_MAJOR}, or run the container image.\n`,
  )
  process.exitCode = 2
} else {
  // Commands start sooner with the compile cache, and sources need it: it holds them without their types. Its entries stay in
  // memory, so a server of the package does without (docs/decisions/0019).
  if (isSource || process.argv[2] !== 'serve') module.enableCompileCache?.()
  const entry = isSource ? source : new URL('./cli/main.js', import.meta.url)
  const { main } = await import(entry.href)
  process.exitCode = await main(process.argv.slice(2))
}
