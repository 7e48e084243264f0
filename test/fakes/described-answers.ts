/** Holds answers of the API against openapi.json: status, media type and body. */
import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describeApi } from '../../gateway/api/openapi.ts'
import { ROUTES } from '../../gateway/api/serving/routes.ts'
import { at } from '../json.ts'

const DOCUMENT = describeApi(ROUTES, null)

let compiled: Ajv2020 | null = null
const checks = new Map<string, ValidateFunction | null>()

function checkAt(pointer: string): ValidateFunction | null {
  const known = checks.get(pointer)
  if (known !== undefined) return known
  if (compiled === null) {
    compiled = new Ajv2020({ strict: false, validateSchema: false })
    addFormats.default(compiled)
    compiled.addSchema({ ...DOCUMENT, $id: 'api.json' })
  }
  const check = compiled.getSchema(`api.json#${encodeURI(pointer)}`) ?? null
  checks.set(pointer, check)
  return check
}

/** The template that a path is served by; null: nothing is served there. */
function templateOf(method: string, path: string): string | null {
  const served = ROUTES.filter((route) => route.method === method).flatMap(({ paths }) => paths)
  if (served.includes(path)) return path
  return served.find((template) => new RegExp(`^${template.replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`).test(path)) ?? null
}

const escaped = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1')

/** Answers about paths that are not served, and of the MCP library, are described elsewhere. */
export function assertDescribed(asked: string, path: string, { status, headers }: Response, body: unknown): void {
  const method = asked === 'HEAD' ? 'GET' : asked
  const template = templateOf(method, path)
  if (template === null || template === '/mcp' || asked === 'HEAD') return
  const place = ['paths', template, method.toLowerCase(), 'responses', String(status)]
  const answer: unknown = at(DOCUMENT, ...place)
  assert.notEqual(answer, undefined, `openapi.json describes no ${status} of ${method} ${template}`)
  const type = (headers.get('content-type') ?? '').split(';')[0] ?? ''
  if (type === '') return
  assert.notEqual(
    at(answer, 'content', type),
    undefined,
    `openapi.json has no ${type} for ${status} of ${method} ${template}`,
  )
  if (type !== 'application/json') return
  const check = checkAt(`/${[...place, 'content', type, 'schema'].map(escaped).join('/')}`)
  assert.ok(check, `the schema of ${status} of ${method} ${template} compiles`)
  assert.ok(check(body), `${method} ${template} ${status}: ${JSON.stringify(check.errors?.slice(0, 3))}`)
}
