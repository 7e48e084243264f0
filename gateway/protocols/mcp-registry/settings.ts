/** What the configuration has to know of the protocol `mcp_registry`. It has no section of its own. */
import type { ProtocolSettings } from '../common/protocol-settings.ts'

export const mcpRegistrySettings = { sections: {}, takesEncodedSlashes: true } satisfies ProtocolSettings
