/** Whatever cites a page of docs/reference cites one that exists, and a section that it has. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { suite, test } from 'node:test'
import { anchorsOf, PAGES, pageText } from './page.ts'

const ROOT = join(import.meta.dirname, '../..')
const ANCHORS = new Map(PAGES.map((page) => [page, anchorsOf(pageText(page))]))

/** Null: the page and the section exist. */
function missing(page: string, anchor: string | undefined): string | null {
  const anchors = ANCHORS.get(page)
  if (anchors === undefined) return `docs/reference/${page} does not exist`
  return anchor === undefined || anchors.has(anchor) ? null : `docs/reference/${page} has no section #${anchor}`
}

const sources = (): readonly string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.(?:ts|js|md|ya?ml|tpl|txt|json)$/.test(file) && existsSync(join(ROOT, file)))

suite('citations of the reference pages', () => {
  test('name a page and a section that exist', () => {
    const faults = sources().flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8')
      const cited = text.matchAll(/docs\/reference\/([a-z-]+\.md)(?:#([\w-]+))?/g)
      return [...cited].flatMap(([, page = '', anchor]) => {
        const fault = missing(page, anchor)
        return fault === null ? [] : [`${file}: ${fault}`]
      })
    })
    assert.deepEqual(faults, [])
  })

  test('are the only ones: nothing names a specification that is kept elsewhere', () => {
    const own = new Set(['test/docs/links.test.ts'])
    const naming = sources().filter(
      (file) => !own.has(file) && /\b(?:wire|interface|design)\.md\b/.test(readFileSync(join(ROOT, file), 'utf8')),
    )
    assert.deepEqual(naming, [])
  })

  for (const page of PAGES)
    test(`in ${page} lead somewhere`, () => {
      const faults = [...pageText(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
        if (/^https?:/.test(target)) return []
        const [path = '', anchor] = target.split('#')
        const own = path === '' ? page : path
        if (PAGES.includes(own)) return missing(own, anchor) ?? []
        const file = normalize(join('docs/reference', path))
        if (!existsSync(join(ROOT, file))) return `${file} does not exist`
        const isSection = anchor === undefined || anchorsOf(readFileSync(join(ROOT, file), 'utf8')).has(anchor)
        return isSection ? [] : `${file} has no section #${anchor}`
      })
      assert.deepEqual(faults, [])
    })
})
