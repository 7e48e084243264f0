/** Routes of a running gateway as somebody would write them: without the sections of other protocols, which defaults fill in. */
import { SECTION_PROTOCOLS } from '../../gateway/config/protocol-checks.ts'
import type { RouteConfig } from '../../gateway/config/route.ts'

const SECTIONS = new Map<string, readonly string[]>(Object.entries(SECTION_PROTOCOLS))

export function writtenRoutes(routes: readonly RouteConfig[]): readonly object[] {
  return routes.map((route) =>
    Object.fromEntries(
      Object.entries(route).filter(([section]) => SECTIONS.get(section)?.includes(route.protocol) ?? true),
    ),
  )
}
