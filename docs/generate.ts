/**
 * Writes every file that is generated from the sources (reference pages, chart schema, compiled validators, the example in README.md). With --check it
 * writes nothing and fails when a committed file differs from its sources, or has none.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { chartReadme } from './chart-readme.ts'
import { chartSchema } from './chart-schema.ts'
import { dashboardFiles } from './dashboards.ts'
import { configPage, errorsPage, logEventsPage, metricsPage, patternsPage, riskPage } from './reference-pages.ts'
import { readmeExample } from './readme-example.ts'
import { rulesPages } from './rules-page.ts'
import { shippedPacks } from './shipped-packs.ts'
import { generatedValidators, type GeneratedFile } from './validators.ts'

const ROOT = join(import.meta.dirname, '..')

/** Everything that is generated, in the order in which it is written. */
function generatedFiles(): readonly GeneratedFile[] {
  return [
    ...generatedValidators(),
    shippedPacks(),
    chartReadme(),
    chartSchema(),
    configPage(),
    errorsPage(),
    metricsPage(),
    logEventsPage(),
    patternsPage(),
    riskPage(),
    ...rulesPages(),
    readmeExample(),
    ...dashboardFiles(),
  ]
}

function isCurrent({ path, content }: GeneratedFile): boolean {
  try {
    return readFileSync(join(ROOT, path), 'utf8') === content
  } catch {
    return false
  }
}

/** Pages of areas that no rule has any more: everything in docs/rules/ is generated. */
function leftOver(files: readonly GeneratedFile[]): readonly string[] {
  const written = new Set(files.map(({ path }) => path))
  return readdirSync(join(ROOT, 'docs/rules'))
    .map((name) => `docs/rules/${name}`)
    .filter((path) => !written.has(path))
}

function main(): number {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  const files = generatedFiles()
  const stale = files.filter((file) => !isCurrent(file))
  const surplus = leftOver(files)
  if (values.check) {
    for (const { path } of stale) process.stderr.write(`${path} differs from its sources: run npm run generate\n`)
    for (const path of surplus) process.stderr.write(`${path} has no source: run npm run generate, which deletes it\n`)
    return stale.length + surplus.length === 0 ? 0 : 1
  }
  for (const path of surplus) rmSync(join(ROOT, path))
  for (const { path, content } of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), content)
    process.stdout.write(`wrote ${path}\n`)
  }
  return 0
}

process.exitCode = main()
