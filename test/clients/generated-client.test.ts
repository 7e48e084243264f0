/** A client that a public generator makes from /openapi.json, compiled as strictly as TypeScript can. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { describeApi } from '../../gateway/api/openapi.ts'
import { ROUTES } from '../../gateway/api/serving/routes.ts'
import { fetchedTool } from '../fakes/programs.ts'

/** What users of such a client write. */
const PROGRAM = `
import type { components, paths } from './api.js'

type Preflight = paths['/api/v1/preflight']['post']
type Body = Preflight['requestBody']['content']['application/json']
type Answer = Preflight['responses'][200]['content']['application/json']

export const request: Body = {
  preflight_mode: 'authorize',
  artifacts: [{ id: 'pets', type: 'openapi', before: 'openapi: 3.1.0', after: '' }],
  context: { operation: 'merge', pull_request: 7 },
}

export const verification: paths['/api/v1/verify-receipt']['post']['requestBody']['content']['application/json'] = {
  token: 'x'.repeat(30),
  context: { operation: 'merge' },
}

export function mayProceed(answer: Answer): boolean {
  if (answer.preflight_mode === 'analyze') return answer.may_execute
  const { decision_result: result, control_envelope: control } = answer
  const reasons: string[] = result.blocking_reasons.map(({ code }) => code)
  const count: number | null | undefined = result.breaking_changes
  const mode: string | null | undefined = result.completeness_mode
  return reasons.length === 0 && count !== 1 && mode !== 'DIVERGED' && control.receipt_view.currently_authorized
}

type Diff = paths['/api/diff']['post']['responses'][200]['content']['application/json']
export const blocks = ({ should_block, breaking_changes }: Diff): string[] =>
  should_block ? breaking_changes.map(({ message }) => message) : []

type Query = NonNullable<paths['/api/v1/ledger']['get']['parameters']['query']>
export const query: Query = { repo: 'acme/pets', limit: 10 }
export const none: Query = {}

export function codeOf(problem: components['schemas']['Problem']): string {
  return problem.error
}
`

test('openapi-typescript makes a client that compiles under --strict', (t) => {
  const generator = fetchedTool(t, 'openapi_typescript')
  if (generator === null) return
  const folder = mkdtempSync(join(tmpdir(), 'preflight-client-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(describeApi(ROUTES, 'https://preflight.example')))
  execFileSync(generator, [join(folder, 'openapi.json'), '-o', join(folder, 'api.d.ts')], { stdio: 'ignore' })
  writeFileSync(join(folder, 'program.ts'), PROGRAM)
  const compiler = join(dirname(generator), 'tsc')
  const options = [
    '--strict',
    '--noEmit',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
    '--module',
    'nodenext',
  ]
  const { status, stdout } = spawnSync(compiler, [...options, 'program.ts'], { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, stdout)
  assert.ok(!readFileSync(join(folder, 'api.d.ts'), 'utf8').includes(': never;\n            decision_result'))
})

test('no schema of the document has a default: generators take such a member for one that is always there', () => {
  const schemas: unknown[] = [describeApi(ROUTES, null)]
  for (const value of schemas) {
    if (typeof value !== 'object' || value === null) continue
    for (const [name, inner] of Object.entries(value)) {
      assert.ok(name !== 'default' || typeof inner === 'object', JSON.stringify(value))
      schemas.push(inner)
    }
  }
})

test('every query parameter is described', () => {
  const document: unknown = describeApi(ROUTES, null)
  const parameters = [
    ...JSON.stringify(document).matchAll(
      /\{"name":"([a-z_]+)","in":"query","required":(?:true|false),("description")?/g,
    ),
  ]
  assert.ok(parameters.length > 10)
  assert.deepEqual(
    parameters.filter(([, , description]) => description === undefined).map(([, name]) => name),
    [],
  )
})
