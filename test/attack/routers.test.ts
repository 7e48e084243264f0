/** Real routers behind the matcher: the operation that one of them runs is judged, or the contract as a whole is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import findMyWay from 'find-my-way'
import { Hono } from 'hono'
import { createOperationMatcher } from '../../gateway/validation/api-operations.ts'
import { targetProblem } from '../../gateway/routing/target.ts'

const TEMPLATES = [
  '/users',
  '/users/everyone',
  '/users/{id}',
  '/users/{id}/ban',
  '/users/{id}/{verb}',
  '/admin/dump',
  '/Reports/Open',
  '/Reports/{name}',
  '/a/b/c',
  '/a/{y}/c',
  '/a/b/{z}',
]
const PATHS = ['/users', '/users/everyone', '/users/7', '/users/7/ban', '/admin/dump', '/Reports/Open', '/a/b/c']

/** The template whose handler runs; null: none does. */
type Router = (path: string) => Promise<string | null>

const written = (template: string): string => template.replaceAll(/\{(\w+)\}/g, ':$1')

function findMyWayRouter(options: object): Router {
  const router = findMyWay(options)
  for (const template of TEMPLATES) router.on('DELETE', written(template), () => undefined, template)
  return async (path) => {
    const store: unknown = router.find('DELETE', path)?.store
    return typeof store === 'string' ? store : null
  }
}

function honoRouter(strict: boolean): Router {
  const app = new Hono({ strict })
  for (const template of TEMPLATES) app.delete(written(template), (context) => context.text(template))
  return async (path) => {
    const answer = await app.request(new Request(`http://a${path}`, { method: 'DELETE' }))
    return answer.status === 200 ? answer.text() : null
  }
}

const LOOSE = {
  caseSensitive: false,
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
  useSemicolonDelimiter: true,
}
const ROUTERS: Readonly<Record<string, Router>> = {
  'find-my-way': findMyWayRouter({}),
  'find-my-way that ends paths at a semicolon': findMyWayRouter({ useSemicolonDelimiter: true }),
  'find-my-way with every leniency': findMyWayRouter(LOOSE),
  hono: honoRouter(true),
  'hono that ignores a slash at the end': honoRouter(false),
}

const hex = (text: string): string => text.replaceAll(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`)
const NAMES: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.toLowerCase(),
  hex,
  (name) => `%25${hex(name.slice(0, 1)).slice(1)}${name.slice(1)}`,
  (name) => name.replaceAll('s', '%C5%BF'),
  (name) => `${name};`,
  (name) => `${name};x=1`,
  (name) => `${name}%3bx`,
  (name) => `${name}%20`,
  (name) => `${name}.`,
  (name) => `${name}.json`,
  (name) => `${name}%3fx`,
  (name) => `${name}%23`,
  (name) => `/${name}`,
  (name) => `${name}/x;/..`,
  (name) => `..x/${name}`,
  (name) => `:${name}`,
]
const ENDS = [
  '',
  '/',
  '//',
  ';',
  ';/',
  ';/x',
  ';x=1/y',
  '%3b/x',
  '/%20',
  '.json',
  '?',
  '?/x',
  '%3f/x',
  '%253f',
  '%2523',
]

function* pathForms(): Generator<string> {
  for (const path of PATHS) {
    const names = path.slice(1).split('/')
    for (const end of ENDS)
      for (const [index, name] of names.entries())
        for (const write of NAMES) yield `/${names.with(index, write(name)).join('/')}${end}`
  }
}

const matcher = createOperationMatcher({
  basePaths: [''],
  operations: TEMPLATES.map((path) => ({ method: 'DELETE', path })),
})

for (const [name, run] of Object.entries(ROUTERS))
  test(`${name} runs nothing that is not judged`, async () => {
    const unjudged: string[] = []
    let count = 0
    for (const target of pathForms()) {
      if (targetProblem(target) !== null) continue
      const ran = await run(target)
      if (ran === null) continue
      count += 1
      const matches = matcher.match('DELETE', target.split('?', 1)[0] ?? '')
      const isJudged = matches?.isDescribed !== true || matches.operations.some(({ path }) => path === ran)
      if (!isJudged) unjudged.push(`${target} → ${ran}`)
    }
    assert.deepEqual(unjudged, [])
    assert.ok(count > 200, 'the forms reach the router')
  })
