/** Paths of routes that no request has: calls that are meant for such a route would take a broader one. */
import { mistakeAt } from '../settings/mistake-collector.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import type { Route } from './route.ts'
import { targetProblem } from './target.ts'

export function checkRoutePaths({ routes }: { readonly routes: readonly Route[] }): readonly LocatedMistake[] {
  return routes.flatMap(({ match: { path } }, index) => {
    const found = pathProblem(path)
    return found === null
      ? []
      : [mistakeAt(`/routes/${index}/match/path`, `no request has the path "${path}": ${found.problem}`, found.fix)]
  })
}

/** `*` or `**` at the end, and segments that are `*` or `{name}`. */
const WILDCARD = /\*$|\/(?:\*+|\{[^/]*\})(?=\/|$)/

function pathProblem(path: string): { readonly problem: string; readonly fix: string } | null {
  if (path.includes('?')) return { problem: 'the query is not part of it', fix: `write ${path.split('?', 1)[0]}` }
  if (WILDCARD.test(path))
    return {
      problem: 'it is a prefix, not a pattern',
      fix: `write ${path.slice(0, path.search(WILDCARD)) || '/'}, which covers all paths below it`,
    }
  const problem = targetProblem(path)
  return problem === null ? null : { problem, fix: 'write it as requests have it, e.g. %20 for a space' }
}
