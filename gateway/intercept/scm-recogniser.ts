/**
 * What the recognisers of the source-control platforms share: pushes, what a platform has beside its table of paths (GraphQL,
 * forms), and the table. What each of these means is said by the platform's own file.
 */
import type { Action, Call, CallHead, Recogniser } from './action.ts'
import { isPush, recognisePush } from './git-push.ts'
import { isRead, matchSegments, segmentsOf } from './request-line.ts'
import type { ScmDeps } from './scm-action.ts'
import { recogniseCall, type Located, type ScmRow, type ScmTable } from './scm-table.ts'

export interface ScmPlatform {
  /** As targets begin: `github:owner/name#7`. */
  readonly name: 'github' | 'gitlab' | 'bitbucket'
  readonly dialect: ScmTable['dialect']
  readonly rows: readonly ScmRow[]
  /** Null: the path is about no repository. */
  readonly locate: (segments: readonly string[]) => Located | null
  /** How a request that is no row of the table is recognised, told by its path; null: it may be a row. */
  readonly beside: (segments: readonly string[]) => ((call: Call, deps: ScmDeps) => Action | Promise<Action>) | null
}

export function createScmRecogniser(platform: ScmPlatform, deps: ScmDeps): Recogniser {
  const { name, dialect, rows, locate, beside } = platform
  const isOfInterest = ({ upstreamPath }: CallHead): boolean => {
    const segments = segmentsOf(upstreamPath)
    if (segments === null || beside(segments) !== null) return true
    const located = locate(segments)
    return located !== null && rows.some(({ path }) => matchSegments(path, located.rest) !== null)
  }
  return {
    needsBody: (head) => !isRead(head.method) && (isPush(head) ? head.route.scm.push !== 'pass' : isOfInterest(head)),
    async recognise(call) {
      if (isPush(call)) return recognisePush(call, name)
      const segments = segmentsOf(call.upstreamPath)
      const recognise = segments === null || isRead(call.method) ? null : beside(segments)
      if (recognise !== null) return recognise(call, deps)
      return recogniseCall(call, { dialect, rows, located: segments === null ? null : locate(segments) }, deps)
    },
  }
}
