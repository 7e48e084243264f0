/**
 * Objects checked against the published types of one Kubernetes minor. The compiler reads them as literals: an unknown member is
 * an error, as for an API server with strict field validation.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { textAt } from '../json.ts'

const ROOT = join(import.meta.dirname, '../..')
/** API group and version → module of the package. */
const MODULES: ReadonlyMap<string, string> = new Map([
  ['v1', 'core/v1'],
  ['apps/v1', 'apps/v1'],
  ['batch/v1', 'batch/v1'],
  ['policy/v1', 'policy/v1'],
  ['autoscaling/v2', 'autoscaling/v2'],
  ['networking.k8s.io/v1', 'networking/v1'],
  ['rbac.authorization.k8s.io/v1', 'rbac/v1'],
  ['admissionregistration.k8s.io/v1', 'admissionregistration/v1'],
])

export interface MinorCheck {
  /** Objects of kinds that Kubernetes itself brings. */
  readonly checked: number
  /** What the compiler reports; empty when all are good. */
  readonly faults: string
}

/** @param types name of a package with the types of one minor, such as `kubernetes-types` */
export async function checkedByMinor(objects: readonly unknown[], types: string): Promise<MinorCheck> {
  const known = objects.flatMap((object) => {
    const from = MODULES.get(textAt(object, 'apiVersion'))
    return from === undefined ? [] : [{ object, from, kind: textAt(object, 'kind') }]
  })
  const folder = mkdtempSync(join(ROOT, 'node_modules/.kubernetes-minor-'))
  try {
    const lines = known.map(
      ({ object, from, kind }, index) =>
        `export const o${index}: import('${types}/${from}').${kind} = ${JSON.stringify(object)}`,
    )
    writeFileSync(join(folder, 'objects.ts'), `${lines.join('\n')}\n`)
    const options = {
      noEmit: true,
      strict: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      skipLibCheck: true,
      types: [],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['objects.ts'] }))
    return { checked: known.length, faults: await compiled(folder) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Members of the API that the package does not have. */
const MISSING = /'"resources"' does not exist in type '(?:Named)?RuleWithOperations'/

/** Null: the compiler failed without a reason. */
function faultsIn(output: string): string | null {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  return lines.length === 0 ? null : lines.filter((line) => !MISSING.test(line)).join('\n')
}

function compiled(folder: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { timeout: 120_000 }, (error, stdout, stderr) =>
      resolve(error === null ? '' : (faultsIn(`${stdout}${stderr}`) ?? error.message)),
    )
  })
}
