/**
 * Mutation testing (`npm run mutation`): changes the code of decisions, policies, receipts and enforcement in one small place after another
 * and runs their tests. A mutant that no test notices is a gap in the tests; the share of those noticed is the score.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { mutantsOf, mutated, type Mutant } from './mutants.ts'
import { LEAST_SCORE, SUITES, type Suite } from './suites.ts'

const ROOT = join(import.meta.dirname, '../..')
/** A mutant whose tests do not end has been noticed: so would be a build that hangs. */
const TIMEOUT_MS = 120_000

const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: '60' },
    all: { type: 'boolean', default: false },
    suite: { type: 'string' },
  },
})

interface Placed extends Mutant {
  readonly file: string
  readonly code: string
}

/** In an order that is always the same and follows no file: a sample is the first of them. */
function placed({ folder, only, left }: Suite): readonly Placed[] {
  const names = only ?? readdirSync(join(ROOT, folder))
  const files = names.filter((name) => name.endsWith('.ts') && !Object.hasOwn(left, name))
  const mutants = files.flatMap((name) => {
    const file = join(folder, name)
    const { code, mutants: found } = mutantsOf(readFileSync(join(ROOT, file), 'utf8'))
    return found.map((mutant) => ({ ...mutant, file, code }))
  })
  const key = ({ file, what, start }: Placed) => createHash('sha256').update(`${file} ${what} ${start}`).digest('hex')
  return mutants.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** True when some test failed. */
function isNoticed(mutant: Placed, tests: readonly string[], directory: string, index: number): Promise<boolean> {
  const file = join(directory, `${index}.json`)
  const url = pathToFileURL(join(ROOT, mutant.file)).href
  writeFileSync(file, JSON.stringify({ url, code: mutated(mutant.code, mutant) }))
  const words = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'trial.ts'), file, ...tests]
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd: ROOT, timeout: TIMEOUT_MS }, (error) => resolve(error !== null))
  })
}

async function survivorsOf(mutants: readonly Placed[], tests: readonly string[]): Promise<readonly Placed[]> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-mutation-'))
  const survivors: Placed[] = []
  const queue = [...mutants.entries()]
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [index, mutant] = next
      if (!(await isNoticed(mutant, tests, directory, index))) survivors.push(mutant)
    }
  }
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, work))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  return survivors
}

async function main(): Promise<number> {
  let isGood = true
  for (const suite of SUITES) {
    if (values.suite !== undefined && values.suite !== suite.folder) continue
    const all = placed(suite)
    const mutants = values.all ? all : all.slice(0, Number(values.sample))
    const tests = suite.tests.flatMap((pattern) => globSync(join(ROOT, pattern))).toSorted()
    const [first] = mutants
    // Tests that fail by themselves would notice everything.
    if (first && (await survivorsOf([{ ...first, start: 0, end: 0, replacement: '' }], tests)).length === 0) {
      process.stderr.write(`${suite.folder}: its tests fail without any mutant; fix them first\n`)
      return 2
    }
    const survivors = await survivorsOf(mutants, tests)
    const score = (100 * (mutants.length - survivors.length)) / mutants.length
    isGood &&= score >= LEAST_SCORE
    for (const { file, what } of survivors.toSorted((a, b) => (a.file < b.file ? -1 : 1)))
      process.stdout.write(`survived  ${file} ${what}\n`)
    process.stdout.write(
      `${suite.folder}: ${score.toFixed(1)} % of ${mutants.length} mutants were noticed (${all.length} there are; at least ${LEAST_SCORE} %)\n`,
    )
  }
  return isGood ? 0 : 1
}

process.exitCode = await main()
