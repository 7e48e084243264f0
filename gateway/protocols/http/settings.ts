/** What the configuration needs to know of the protocol `http`. It has no section. */
import { CONTRACT_MEMBERS, type ProtocolSettings } from '../common/protocol-settings.ts'

export const httpSettings = {
  sections: {},
  contractMembers: CONTRACT_MEMBERS,
  contractType: 'openapi',
  currentContract: 'the OpenAPI document that the upstream offers now: contract: { current: { url: … } }',
  validates: 'calls',
} satisfies ProtocolSettings
