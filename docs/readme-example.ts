/** The example comparison in README.md: its output is the report of the engine on the files that the command names. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compare } from '../engine/internal.ts'
import { diffReport } from '../gateway/report/diff-report.ts'
import { renderText } from '../gateway/report/text.ts'
import { sha256Hex } from '../gateway/runtime/hash.ts'
import type { GeneratedFile } from './validators.ts'

const ROOT = join(import.meta.dirname, '..')
const EXAMPLE = /(<!-- example: preflight diff (\S+) (\S+) -->\n```\n)[^]*?(```\n)/
/** The day of the comparison: the example has no dates, so any day gives the same report. */
const TODAY = '2026-01-01'
const LISTED = 5000

export function readmeExample(): GeneratedFile {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const content = readme.replace(EXAMPLE, (_, start: string, base: string, head: string, end: string) => {
    const command = `$ npm run -s preflight -- diff ${base} ${head}`
    return `${start}${command}\n${reportOf(base, head)}${end}`
  })
  if (!EXAMPLE.test(readme)) throw new Error('README.md has no example comparison')
  return { path: 'README.md', content }
}

function reportOf(base: string, head: string): string {
  const [before = '', after = ''] = [base, head].map((file) => readFileSync(join(ROOT, file), 'utf8'))
  const result = compare({ id: 'diff', type: 'openapi', before, after }, { today: TODAY }, sha256Hex)
  if (!result.ok) throw new Error(result.problem.message)
  const documents = { base: { name: base }, head: { name: head } }
  return renderText(diffReport(result.value, LISTED), { isColoured: false, documents })
}
