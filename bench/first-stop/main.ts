/**
 * `npm run first-stop [-- --no-install]`: clones this repository, installs its packages, and goes to the first stopped call in
 * three ways. Prints the time of each; `--no-install` takes the packages that are here.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { table } from '../report.ts'
import { runScene, SCENES } from './scenes.ts'

const HERE = join(import.meta.dirname, '../..')

async function timed<T>(work: () => T | Promise<T>): Promise<string> {
  const startedAt = performance.now()
  await work()
  return ((performance.now() - startedAt) / 1000).toFixed(1)
}

function install(root: string, isLinked: boolean): void {
  if (isLinked) symlinkSync(join(HERE, 'node_modules'), join(root, 'node_modules'))
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}

async function measureAll(isLinked: boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-clone-'))
  const root = join(folder, 'preflight')
  try {
    const rows = [
      ['git clone', await timed(() => execFileSync('git', ['clone', '-q', HERE, root], { stdio: 'inherit' }))],
      [isLinked ? 'npm ci (left out)' : 'npm ci', await timed(() => install(root, isLinked))],
    ]
    for (const scene of SCENES) rows.push([scene.title, await timed(() => runScene(scene, root))])
    return table(['', 'seconds'], rows)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const { values } = parseArgs({ options: { 'no-install': { type: 'boolean', default: false } } })
process.stdout.write(`${await measureAll(values['no-install'])}\n`)
