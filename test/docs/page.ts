/** Reads a reference page: its anchors, its code blocks, and the output of the commands in them. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { marked, type Tokens } from 'marked'

const ROOT = join(import.meta.dirname, '../..')
export const REFERENCE = join(ROOT, 'docs/reference')

/** Names of the pages, without the folder. */
export const PAGES: readonly string[] = readdirSync(REFERENCE).filter((name) => name.endsWith('.md'))

export function pageText(name: string): string {
  return readFileSync(join(REFERENCE, name), 'utf8')
}

/** The anchors that GitHub makes of the headings of a Markdown text. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = marked.lexer(text).filter((token): token is Tokens.Heading => token.type === 'heading')
  return new Set(headings.map(({ text: heading }) => slugOf(heading)))
}

function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

/** A heading with the text below it, down to the next heading of any level. */
export function sectionOf(name: string, anchor: string): string {
  const parts = pageText(name).split(/^(?=#+ )/m)
  const found = parts.find((part) => slugOf((part.split('\n', 1)[0] ?? '').replace(/^#+ /, '')) === anchor)
  if (found === undefined) throw new Error(`${name} has no section #${anchor}`)
  return found
}

/** The first block of code below a heading of a page of docs/. */
export function blockBelow(page: string, heading: string): string {
  const tokens = marked.lexer(readFileSync(join(ROOT, 'docs', page), 'utf8'))
  const from = tokens.findIndex((token) => token.type === 'heading' && token['text'] === heading)
  const block = tokens.slice(from).find((token): token is Tokens.Code => token.type === 'code')
  if (from === -1 || block === undefined) throw new Error(`${page} has no block below "${heading}"`)
  return block.text
}

/** Texts in back quotes, as a set: what a page names literally. */
export function namesIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name))
}

export interface Example {
  /** The commands. */
  readonly script: string
  /** The block below them, as the page prints it. */
  readonly expected: string
}

export interface Examples {
  /** Files that the page tells the reader to save, by name. */
  readonly files: ReadonlyMap<string, string>
  readonly examples: readonly Example[]
}

/**
 * A block of the language `js` with a name is a file. A block of the language `sh` is run, and the `text` block after it is
 * its output. A `console` block is not run.
 */
export function examplesOf(name: string): Examples {
  const blocks = marked.lexer(pageText(name)).filter((token): token is Tokens.Code => token.type === 'code')
  const files = new Map<string, string>()
  const examples: Example[] = []
  for (const [index, { lang = '', text }] of blocks.entries()) {
    const [language, file] = lang.split(' ')
    if (file !== undefined) files.set(file, `${text}\n`)
    if (language !== 'sh' || file !== undefined) continue
    const output = blocks[index + 1]
    if (output?.lang !== 'text') throw new Error(`${name}: no output is printed below: ${text}`)
    examples.push({ script: text, expected: output.text })
  }
  return { files, examples }
}

/** The files of a page in a new folder. Every page may use the files of hashes.md; its own come last. */
export function saveFiles(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-reference-'))
  for (const page of ['hashes.md', name])
    for (const [file, content] of examplesOf(page).files) writeFileSync(join(folder, file), content)
  return folder
}

/** Standard output of the commands, run in a folder with the Node.js that runs the tests. */
export function outputOf({ script }: Pick<Example, 'script'>, folder: string): string {
  const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  return execFileSync('bash', ['--norc', '-euc', script], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trimEnd()
}

/** A function that a saved file of a page exports. What the file prints is not printed here. */
export async function exported(folder: string, file: string, name: string): Promise<(...given: unknown[]) => unknown> {
  const { log } = console
  console.log = () => undefined
  try {
    const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(join(folder, file)).href)
    const found = module[name]
    if (typeof found !== 'function') throw new Error(`${file} exports no function ${name}`)
    return (...given) => Reflect.apply(found, undefined, given)
  } finally {
    console.log = log
  }
}

/** Rows of the tables in a section, cell by cell, as Markdown; the header row is left out. */
export function rowsIn(section: string): readonly (readonly string[])[] {
  const tables = marked.lexer(section).filter((token): token is Tokens.Table => token.type === 'table')
  return tables.flatMap(({ rows }) => rows.map((cells) => cells.map(({ text }) => text)))
}

/** The names in back quotes of one cell. */
export function namesOf(cell: string | undefined): readonly string[] {
  return [...namesIn(cell ?? '')]
}
