/** What a route of the protocol `mcp` makes of tools that change files. Part of the configuration's schema. */
import { CONTRACT_MEMBERS, type ProtocolSettings, type RouteWith } from '../common/protocol-settings.ts'
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

const tools = (description: string) => Type.Array(Type.String({ minLength: 1 }), { default: [], description })

const EditsSection = strict(
  {
    judge: Type.Boolean({
      default: true,
      description:
        'protocol mcp: a call whose arguments change a contract file is judged on that change too. scm.contracts says which files are contracts. The file is read before the change through the same server, in the session of the caller.',
    }),
    read: tools(
      'protocol mcp: tools that answer the text of a file, in order of preference. Empty: those of the server that are known by their names and take a path.',
    ),
    write: tools(
      'protocol mcp: tools that change files. If the arguments do not determine in one way what the call changes, it is stopped. Calls of other tools are examined when their arguments look like a change.',
    ),
    ignore: tools('protocol mcp: tools whose arguments are never read.'),
    operation: Type.Optional(
      Type.String({ minLength: 1, description: 'protocol mcp: operation of such changes; absent: that of the route.' }),
    ),
  },
  'Changes of contract files by tools of an MCP server.',
)
type EditsSection = Static<typeof EditsSection>

const sections = { edits: EditsSection }
export type McpRoute = RouteWith<typeof sections>

export const mcpSettings = {
  sections,
  contractMembers: CONTRACT_MEMBERS,
  contractType: 'mcp_manifest',
  readsAnswers: true,
  asksUpstream: () => true,
  // An MCP server answers each caller by its credentials, and the gateway has none of its own to look with.
  unwatched:
    'what an MCP server offers is asked for as the caller, with each call and by contract.refresh: without contract.current there is nothing to read in between',
  validates: 'results',
} satisfies ProtocolSettings<typeof sections>
