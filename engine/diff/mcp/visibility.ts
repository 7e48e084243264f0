/** Who may call a tool by `_meta.ui.visibility` (MCP Apps 2026-01-26): models, or the user interfaces of the server. */
import type { McpItem } from '../../contracts/mcp-manifest.ts'
import { composePointer } from '../../contracts/pointer.ts'
import { pointerOf } from '../../schema/located.ts'
import { valueAt } from './security.ts'
import type { McpWalk } from './walk.ts'

const CALLERS = [
  { caller: 'model', hidden: 'mcp-tool-hidden-from-models', shown: 'mcp-tool-shown-to-models' },
  { caller: 'app', hidden: 'mcp-tool-hidden-from-apps', shown: 'mcp-tool-shown-to-apps' },
] as const

const PATH = ['_meta', 'ui', 'visibility']

export function compareVisibility(before: McpItem, after: McpItem, walk: McpWalk): void {
  for (const { caller, hidden, shown } of CALLERS) {
    const [was, is] = [isVisibleTo(before, caller), isVisibleTo(after, caller)]
    if (was === is) continue
    const side = valueAt(after.value, PATH) === null ? 'base' : 'head'
    walk.add({
      rule: is ? shown : hidden,
      subject: PATH.join('/'),
      side,
      location: `${pointerOf((side === 'base' ? before : after).at)}${composePointer(PATH)}`,
      before: was,
      after: is,
    })
  }
}

/** Both may call a tool that does not state it. */
function isVisibleTo({ value }: McpItem, caller: string): boolean {
  const stated = valueAt(value, PATH)
  return !Array.isArray(stated) || stated.includes(caller)
}
