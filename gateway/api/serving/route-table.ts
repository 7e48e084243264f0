/**
 * Finds the route of a request. The table is an explicit list; a path with another method is 405, with the methods that it has.
 */
import createRouter from 'find-my-way'
import { nearest } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { Method, ApiRoute } from '../route.ts'

export interface ApiRouteMatch {
  readonly route: ApiRoute
  /** The template that matched. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly url: URL
}

export interface RouteTable {
  readonly routes: readonly ApiRoute[]
  /** @throws GatewayError NOT_FOUND or METHOD_NOT_ALLOWED */
  find(method: string, target: string): ApiRouteMatch
}

const METHODS = ['GET', 'POST', 'DELETE'] as const satisfies readonly Method[]

export function createRouteTable(routes: readonly ApiRoute[]): RouteTable {
  const byTemplate = new Map<string, ApiRoute>()
  const router = createRouter({ caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 300 })
  for (const route of routes) {
    for (const path of route.paths) {
      byTemplate.set(`${route.method} ${path}`, route)
      // The template is stored as the value in the router; its handler is never called.
      router.on(route.method, routerPath(path), () => undefined, { path })
    }
  }
  const lookUp = (method: Method, path: string): Pick<ApiRouteMatch, 'route' | 'path' | 'params'> | null => {
    const found = router.find(method, path)
    const template: unknown = found?.store?.path
    const route = typeof template === 'string' ? byTemplate.get(`${method} ${template}`) : undefined
    if (found === null || route === undefined || typeof template !== 'string') return null
    return { route, path: template, params: definedOnly(found.params) }
  }
  return {
    routes,
    find(method, target) {
      // The authority is not used; a base makes the path of the request parseable.
      const url = URL.parse(target, 'http://localhost')
      if (url === null || !target.startsWith('/'))
        throw new GatewayError('NOT_FOUND', `There is nothing at this address. ${LIST}`)
      const path = target.split('?', 1)[0] ?? '/'
      // HEAD is GET whose body is not sent (RFC 9110 §9.3.2); node:http drops it.
      const wanted = METHODS.find((known) => known === (method === 'HEAD' ? 'GET' : method))
      const match = wanted === undefined ? null : lookUp(wanted, path)
      if (match !== null) return { ...match, url }
      const allowed = METHODS.filter((known) => lookUp(known, path) !== null)
      if (allowed.length === 0) throw nothingAt(path, routes)
      const allow = allowed.flatMap((known) => (known === 'GET' ? ['GET', 'HEAD'] : [known])).join(', ')
      throw new GatewayError('METHOD_NOT_ALLOWED', `This path takes ${allow}.`, { headers: { Allow: allow } })
    },
  }
}

const LIST = 'GET /openapi.json describes all paths; people open /console.'

function nothingAt(path: string, routes: readonly ApiRoute[]): GatewayError {
  const known = nearest(
    path,
    routes.flatMap(({ paths }) => paths),
  )
  const help = known === null ? LIST : `Did you mean ${known}?`
  return new GatewayError('NOT_FOUND', `There is nothing at this address. ${help}`)
}

/** OpenAPI writes `{id}`, the router `:id`. */
function routerPath(template: string): string {
  return template.replaceAll(/\{([a-z_]+)\}/g, ':$1')
}

function definedOnly(params: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
