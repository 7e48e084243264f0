/**
 * Paths that one route takes as written, and another route as many servers read them: with escapes decoded, letters in
 * any case, empty segments and parameters dropped. Routes match byte for byte, so a client could choose its route with
 * such a path.
 */
import type { Route } from './route.ts'
import { readPath, withoutFormats } from './path-reading.ts'
import { hasPrefix, isCloser } from './target.ts'

/**
 * Null when a looser reading of the target does not match a closer route.
 * @param routes all that are configured
 * @param candidates those that take requests like this one
 * @param route the one that takes it; null: none does
 */
export function spellingProblem(
  target: string,
  route: Route | null,
  routes: readonly Route[],
  candidates: () => readonly Route[],
): string | null {
  const queryStart = target.indexOf('?')
  const path = queryStart === -1 ? target : target.slice(0, queryStart)
  if (!LOOSE.test(path) && !haveLoosePaths(routes)) return null
  const closer = candidates().filter(
    (one) => one !== route && (route === null || isCloser(one, route)) && !hasPrefix(target, one.match.path),
  )
  if (closer.length === 0) return null
  const loose = looseNames(path)
  const other = loose === null ? closer[0] : closer.find((one) => isBelow(loose, looseNames(one.match.path) ?? []))
  return other === undefined
    ? null
    : `Many servers read this path as one of ${other.match.path}, which belongs to another route. Write it as in that route.`
}

/** Characters with which a path may differ from its loose reading. */
const LOOSE = /[%;A-Z.]|\/\//

const loosePaths = new WeakMap<readonly Route[], boolean>()

/** Whether a plain path may be the looser reading of a route's path: `/admin` that of `/Admin` and of `/admin/`. */
function haveLoosePaths(routes: readonly Route[]): boolean {
  const known = loosePaths.get(routes)
  if (known !== undefined) return known
  const have = routes.some(({ match: { path } }) => LOOSE.test(path) || (path.length > 1 && path.endsWith('/')))
  loosePaths.set(routes, have)
  return have
}

/** Null: there is no reading that all servers share. */
function looseNames(path: string): readonly string[] | null {
  return readPath(path)?.loose.map(({ folded }) => folded) ?? null
}

/** Only the last name of a path may have a format. */
function isBelow(names: readonly string[], prefix: readonly string[]): boolean {
  return (
    prefix.length <= names.length &&
    prefix.every((text, index) => {
      const name = names[index] ?? ''
      return name === text || (index === names.length - 1 && withoutFormats(name).includes(text))
    })
  )
}
