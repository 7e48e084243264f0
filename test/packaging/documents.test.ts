/** What the written pages say, compared with the checkout: links lead somewhere, scripts exist, configurations load. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import type { Result } from '../../engine/internal.ts'
import packageManifest from '../../package.json' with { type: 'json' }
import { loadConfig } from '../../gateway/config/load.ts'
import { formatMistake, type Mistake } from '../../gateway/errors/mistake.ts'
import { loadPolicy } from '../../gateway/config/policy.ts'
import { readIgnoreFile } from '../../gateway/report/ignore-file.ts'
import { serversOfFile } from '../../gateway/stdio/group-file.ts'
import { at } from '../json.ts'

const ROOT = join(import.meta.dirname, '../..')

const pages: readonly { readonly path: string; readonly text: string }[] = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
].map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

/** Fenced blocks of a language, over all pages. */
function blocks(language: string): readonly { readonly path: string; readonly block: string }[] {
  const fence = new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\``, 'gm')
  return pages.flatMap(({ path, text }) => [...text.matchAll(fence)].map(([, block = '']) => ({ path, block })))
}

test('every relative link of a page leads to a file', () => {
  assert.ok(pages.length > 10, 'the pages are found')
  const broken = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !existsSync(join(ROOT, dirname(path), link)))
      .map((link) => `${path}: ${link}`),
  )
  assert.deepEqual(broken, [])
})

/** As the places that show Markdown make them of headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(
    ([, heading = '']) => heading,
  )
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

test('every link into a page leads to one of its headings', () => {
  const links = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(((?!https?:)[^)#\s]*)#([^)\s]+)\)/g)].map(([, file = '', anchor = '']) => ({
      path,
      anchor,
      target: file === '' ? path : join(dirname(path), file),
    })),
  )
  assert.ok(links.length > 0, 'the pages link into pages')
  const broken = links.filter(({ target, anchor }) => !anchorsOf(readFileSync(join(ROOT, target), 'utf8')).has(anchor))
  assert.deepEqual(broken, [])
})

test('every npm script that a page names exists', () => {
  const named = pages.flatMap(({ text }) =>
    [...text.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].map(([, name = '']) => name),
  )
  assert.ok(named.includes('bench'))
  assert.deepEqual(
    named.filter((name) => !Object.hasOwn(packageManifest.scripts, name)),
    [],
  )
})

/** The kinds of YAML in the pages, each identified by a unique member, and its check, which returns a text for each mistake. */
const SORTS: readonly {
  readonly member: string
  readonly mistakes: (value: unknown, folder: string) => readonly string[]
}[] = [
  // Files of other programs: Envoy, agentgateway, GitHub, GitLab, pre-commit and Kubernetes.
  ...['http_filters', 'mcpGuardrails', 'jobs', 'include', 'repos', 'volumes'].map((member) => ({
    member,
    mistakes: () => [],
  })),
  { member: 'ignore', mistakes: (value, folder) => reported(readIgnoreFile(written(value, folder))) },
  { member: 'apiVersion', mistakes: (value, folder) => reported(loadPolicy(written(value, folder), folder)) },
  { member: 'config', mistakes: (value, folder) => mistakesOfConfig(at(value, 'config'), folder) },
  { member: '', mistakes: mistakesOfConfig },
]

function written(value: unknown, folder: string): string {
  const file = join(folder, 'shown.yaml')
  writeFileSync(file, JSON.stringify(value))
  return file
}

function reported(read: Result<unknown, readonly Mistake[]>): readonly string[] {
  return read.ok ? [] : read.problem.map(formatMistake)
}

/** Files under absolute paths are those of the machine that it is meant for. */
function isElsewhere({ message }: Mistake): boolean {
  return /^\/\S+ does not exist; make it, or name another file \(ENOENT\)$/.test(message)
}

function mistakesOfConfig(value: unknown, directory: string): readonly string[] {
  const loaded = loadConfig({ value, directory, environment: {} })
  return loaded.ok ? [] : loaded.problem.filter((mistake) => !isElsewhere(mistake)).map(formatMistake)
}

test('every configuration, policy pack and ignore list that a page shows loads', (t) => {
  const shown = blocks('yaml')
  assert.ok(shown.length > 15, 'the pages show configurations')
  // The contract that the README's example names lies in the reader's own folder, which is a repository.
  const directory = mkdtempSync(join(tmpdir(), 'preflight-documents-'))
  t.after(() => rmSync(directory, { recursive: true }))
  execFileSync('git', ['init', '--quiet', directory])
  mkdirSync(join(directory, 'contracts'))
  writeFileSync(join(directory, 'contracts/shop.yaml'), 'openapi: 3.0.3\n')
  for (const { path, block } of shown) {
    const value: unknown = parse(block)
    const sort = SORTS.find(({ member }) => member === '' || at(value, member) !== undefined)
    assert.deepEqual(sort?.mistakes(value, directory), [], `${path}\n${block}`)
  }
})

test('every JSON that a page shows is JSON', () => {
  const shown = blocks('json')
  assert.ok(shown.length > 5, 'the pages show JSON')
  for (const { path, block } of shown) assert.doesNotThrow(() => JSON.parse(block), `${path}\n${block}`)
})

test('the lists of MCP servers that a page shows are ones that preflight mcp serve reads', () => {
  const lists = blocks('json').filter(({ block }) => at(JSON.parse(block), 'mcpServers') !== undefined)
  assert.ok(lists.length > 1, 'the pages show lists')
  for (const { path, block } of lists) {
    const servers = serversOfFile('servers.json', block, (text) => text.replaceAll(/\$\{\w+\}/g, 'value'))
    assert.ok(servers.length > 0, path)
  }
})

test('the examples and the default values of the chart hold configurations that load', (t) => {
  const chart = join(ROOT, 'charts/preflight-gateway')
  const directory = mkdtempSync(join(tmpdir(), 'preflight-documents-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const examples = readdirSync(join(chart, 'examples')).map((name): unknown => {
    const [map] = readFileSync(join(chart, 'examples', name), 'utf8').split(/^---$/m)
    const data: unknown = at(parse(map ?? ''), 'data')
    for (const [file, text] of Object.entries(Object(data))) writeFileSync(join(directory, file), String(text))
    return parse(String(at(data, 'preflight.yaml')))
  })
  assert.equal(examples.length, 2)
  const values: unknown = at(parse(readFileSync(join(chart, 'values.yaml'), 'utf8')), 'config')
  for (const value of [...examples, values]) {
    const loaded = loadConfig({ value, directory, environment: {} })
    assert.ok(loaded.ok, loaded.ok ? '' : loaded.problem.map(formatMistake).join('\n'))
  }
})
