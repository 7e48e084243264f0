/** Routes of a running gateway as somebody would write them: without the sections of other protocols, which defaults fill in. */
import { SECTION_PROTOCOLS } from '../../gateway/config/protocol-checks.ts'
import type { RouteConfig } from '../../gateway/protocols/route.ts'

export function writtenRoutes(routes: readonly RouteConfig[]): readonly object[] {
  return routes.map((route) =>
    Object.fromEntries(
      Object.entries(route).filter(([section]) => SECTION_PROTOCOLS.get(section)?.includes(route.protocol) ?? true),
    ),
  )
}
