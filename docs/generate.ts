/**
 * Writes every file that is made from the sources (reference pages, chart schema, compiled validators). With --check it
 * writes nothing and fails when a committed file differs from what the sources say now.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { chartSchema } from './chart-schema.ts'
import { patternsPage } from './patterns-page.ts'
import { configPage, errorsPage, metricsPage } from './reference-pages.ts'
import { riskPage } from './risk-page.ts'
import { rulesPages } from './rules-page.ts'
import { shippedPacks } from './shipped-packs.ts'
import { generatedValidators, type GeneratedFile } from './validators.ts'

const ROOT = join(import.meta.dirname, '..')

/** Everything that is generated, in the order in which it is written. */
function generatedFiles(): readonly GeneratedFile[] {
  return [
    ...generatedValidators(),
    shippedPacks(),
    chartSchema(),
    configPage(),
    errorsPage(),
    metricsPage(),
    patternsPage(),
    riskPage(),
    ...rulesPages(),
  ]
}

function isCurrent({ path, content }: GeneratedFile): boolean {
  try {
    return readFileSync(join(ROOT, path), 'utf8') === content
  } catch {
    return false
  }
}

function main(): number {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  const stale = generatedFiles().filter((file) => !isCurrent(file))
  if (values.check) {
    for (const { path } of stale) process.stderr.write(`${path} is not what the sources say: npm run generate\n`)
    return stale.length === 0 ? 0 : 1
  }
  for (const { path, content } of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), content)
    process.stdout.write(`wrote ${path}\n`)
  }
  return 0
}

process.exitCode = main()
