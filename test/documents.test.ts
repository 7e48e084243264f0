/** Documents lead to what exists: every relative link names a file of the repository, and every anchor a heading in it. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../gateway/config/load.ts'
import { formatMistake } from '../gateway/errors/mistake.ts'

const ROOT = join(import.meta.dirname, '..')

const documents = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))

const withoutCode = (text: string) => text.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, 'code')

/** Links of a document, without addresses of other sites. */
const linksOf = (text: string) =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))

/** Anchors as GitHub makes them from headings. */
const anchorsOf = (text: string) =>
  new Set(
    [...text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

function faultOf(file: string, target: string): string | null {
  const [path = '', anchor] = target.split('#')
  const full = path === '' ? join(ROOT, file) : join(ROOT, dirname(file), decodeURIComponent(path))
  if (!existsSync(full)) return `${file}: no file ${target}`
  if (relative(ROOT, full).startsWith('..')) return `${file}: ${target} is outside the repository`
  if (anchor === undefined || statSync(full).isDirectory() || !full.endsWith('.md')) return null
  return anchorsOf(readFileSync(full, 'utf8')).has(anchor) ? null : `${file}: no heading ${target}`
}

test('every relative link in a document leads to a file and a heading that exist', () => {
  assert.ok(documents.length > 50)
  const faults = documents.flatMap((file) =>
    linksOf(readFileSync(join(ROOT, file), 'utf8')).map((target) => faultOf(file, target)),
  )
  assert.deepEqual(
    faults.filter((fault) => fault !== null),
    [],
  )
})

test('every page of docs/ is in the index, in the list of protocols, or in the list of rules', () => {
  const indexes = ['docs/README.md', 'docs/protocols/README.md', 'docs/rules.md', 'docs/reference/README.md']
  const listed = new Set(
    indexes.flatMap((index) =>
      linksOf(readFileSync(join(ROOT, index), 'utf8')).map((target) =>
        join(dirname(index), target.split('#')[0] ?? ''),
      ),
    ),
  )
  const pages = documents.filter((file) => file.startsWith('docs/') && !file.startsWith('docs/decisions/'))
  assert.deepEqual(
    pages.filter((file) => !listed.has(file) && file !== 'docs/README.md'),
    [],
  )
})

test('the example configuration has no mistake', () => {
  const loaded = loadConfig({ file: join(ROOT, 'examples/shop/preflight.yaml'), environment: {} })
  assert.deepEqual(loaded.ok ? [] : loaded.problem.map(formatMistake), [])
})
