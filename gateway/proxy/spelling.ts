/**
 * Paths that one route takes as they are written and another one would as many servers read them: with escapes decoded, letters
 * of any case, empty segments and parameters dropped. Routes are matched byte for byte, so such a path would choose its own judge.
 */
import type { RouteConfig } from '../config/route.ts'
import { hasPrefix, isCloser } from './target.ts'

/**
 * Null when no other route would have a better claim to the target by a looser reading.
 * @param candidates routes that take requests like this one
 * @param route the one that takes it; null: none does
 */
export function spellingProblem(
  target: string,
  route: RouteConfig | null,
  candidates: () => readonly RouteConfig[],
): string | null {
  const [path = ''] = target.split('?', 1)
  if (!LOOSE.test(path)) return null
  const loose = looseReading(path)
  const other = candidates().find(
    (one) =>
      one !== route &&
      (route === null || isCloser(one, route)) &&
      !hasPrefix(target, one.match.path) &&
      hasPrefix(loose, looseReading(one.match.path)),
  )
  return other === undefined
    ? null
    : `Many servers read this path as one of ${other.match.path}, which another route takes. Write it as that route does.`
}

/** What keeps a path from being its own loose reading. */
const LOOSE = /[%;A-Z]|\/\//

function looseReading(path: string): string {
  return decoded(path.replaceAll(/;[^/]*/g, ''))
    .replaceAll(/\/{2,}/g, '/')
    .toLowerCase()
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    // Not UTF-8: those escapes stand for no letter of a route.
    return path.replaceAll(/%[0-7][0-9a-f]/gi, (escape) => decodeURIComponent(escape))
  }
}
