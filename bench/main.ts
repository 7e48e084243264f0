/** `npm run bench [-- SECTION…]`: runs the sections named (all without a name), prints markdown, ends with 1 when a ratio is missed. */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { admissionSection } from './admission.ts'
import { consoleSection } from './console.ts'
import { decisionSection } from './decision.ts'
import { diffSection } from './diff/section.ts'
import { proxySection } from './proxy/section.ts'
import { tracingSection } from './proxy/tracing.ts'
import { judge, type Check, type Section } from './report.ts'
import { startSection } from './start.ts'
import { stdioSection } from './stdio.ts'
import { upgradesSection } from './upgrades/section.ts'

const SECTIONS: Readonly<Record<string, { readonly title: string; readonly run: () => Promise<Section> }>> = {
  start: { title: 'Start and idle memory', run: startSection },
  decision: { title: 'Decision in process', run: decisionSection },
  diff: { title: 'Comparing contracts', run: diffSection },
  proxy: { title: 'Calls through the proxy', run: proxySection },
  tracing: { title: 'Traces', run: tracingSection },
  admission: { title: 'Reviews of an API server', run: admissionSection },
  stdio: { title: 'Servers over standard streams', run: stdioSection },
  console: { title: 'Pages of the console', run: consoleSection },
  upgrades: { title: 'Upgrades', run: upgradesSection },
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`)
}

async function main(): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true })
  const names = positionals.length === 0 ? Object.keys(SECTIONS) : positionals
  const unknown = names.filter((name) => !Object.hasOwn(SECTIONS, name))
  if (unknown.length > 0) {
    process.stderr.write(`bench: no section ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}\n`)
    return 2
  }
  print(`# Bench\n\nNode ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}`)
  const checks: Check[] = []
  for (const name of names) {
    const section = SECTIONS[name]
    if (section === undefined) continue
    print(`## ${section.title}`)
    const result = await section.run()
    print(result.markdown)
    checks.push(...result.checks)
  }
  const { markdown, met } = judge(checks)
  print(`## Thresholds\n\n${markdown}`)
  return met ? 0 : 1
}

process.exitCode = await main()
