/**
 * The part of agentgateway's external MCP policy API that is used here: `agentgateway.dev.ext_mcp.ExtMcp`, with the
 * published names and field numbers of its messages. The decoder skips fields that are not listed.
 */
import type { fromJSON } from '@grpc/proto-loader'

const field = (id: number, type: string) => ({ id, type })
const list = (id: number, type: string) => ({ id, type, rule: 'repeated' })
const map = (id: number, type: string) => ({ id, keyType: 'string', type })
const method = (requestType: string, responseType: string) => ({ requestType, responseType, comment: '' })

export const EXT_MCP_SERVICE = 'agentgateway.dev.ext_mcp.ExtMcp'

/** AuthorizationError.Code */
export const AUTHORIZATION_CODE = { permissionDenied: 1, invalid: 3 } as const

const RESULT = {
  oneofs: { result: { oneof: ['pass', 'error'] } },
  fields: { pass: field(1, 'Pass'), error: field(3, 'AuthorizationError') },
}

const messages: NonNullable<Parameters<typeof fromJSON>[0]['nested']> = {
  ExtMcp: {
    methods: {
      CheckRequest: method('McpRequest', 'McpRequestResult'),
      CheckResponse: method('McpResponse', 'McpResponseResult'),
    },
  },
  McpRequest: {
    fields: {
      service_names: list(1, 'string'),
      method: field(2, 'string'),
      mcp_request: field(4, 'bytes'),
      headers: list(5, 'McpHeader'),
      invocation_id: field(6, 'string'),
    },
  },
  McpResponse: {
    fields: {
      service_names: list(1, 'string'),
      method: field(2, 'string'),
      metadata_context: field(3, 'google.protobuf.Struct'),
      mcp_response: field(4, 'bytes'),
      invocation_id: field(5, 'string'),
    },
  },
  McpRequestResult: { ...RESULT, fields: { ...RESULT.fields, header_mutation: field(4, 'HeaderMutation') } },
  McpResponseResult: RESULT,
  HeaderMutation: { fields: { set: list(1, 'McpHeader'), remove: list(2, 'string') } },
  McpHeader: { fields: { key: field(1, 'string'), value: field(2, 'bytes') } },
  Pass: { fields: {} },
  AuthorizationError: { fields: { code: field(1, 'int32'), reason: field(2, 'string'), mcp_error: field(3, 'bytes') } },
}

export const EXT_MCP: Parameters<typeof fromJSON>[0] = {
  nested: {
    agentgateway: { nested: { dev: { nested: { ext_mcp: { nested: messages } } } } },
    google: {
      nested: {
        protobuf: {
          nested: {
            Struct: { fields: { fields: map(1, 'Value') } },
            Value: { fields: { string_value: field(3, 'string') } },
          },
        },
      },
    },
  },
}

interface McpHeader {
  readonly key: string
  readonly value: Buffer
}

/** In the form of the decoder: original names, defaults filled in, bytes as buffers. */
export interface McpRequest {
  readonly service_names: readonly string[]
  readonly method: string
  /** JSON-RPC `params`; empty when the request has none. */
  readonly mcp_request: Buffer
  readonly headers: readonly McpHeader[]
  /** Empty: the calling proxy names no invocation. */
  readonly invocation_id: string
}

export interface McpResponse {
  readonly service_names: readonly string[]
  readonly method: string
  /** What the calling proxy is configured to add. */
  readonly metadata_context: {
    readonly fields: Readonly<Record<string, { readonly string_value: string }>>
  } | null
  /** JSON-RPC `result`. */
  readonly mcp_response: Buffer
  readonly invocation_id: string
}

interface AuthorizationError {
  readonly code: number
  readonly reason: string
  /** JSON that the calling proxy sends as `data` of its JSON-RPC error. */
  readonly mcp_error: Buffer
}

export type McpRequestResult =
  | {
      readonly pass: Readonly<Record<string, never>>
      readonly header_mutation?: { readonly set: readonly McpHeader[]; readonly remove: readonly string[] }
    }
  | { readonly error: AuthorizationError }

export type McpResponseResult =
  | { readonly pass: Readonly<Record<string, never>> }
  | { readonly error: AuthorizationError }
