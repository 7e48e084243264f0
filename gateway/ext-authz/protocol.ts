/**
 * The part of Envoy's external authorization API that is used here: `envoy.service.auth.v3.Authorization/Check`, with
 * the published names and field numbers of its messages. The decoder skips fields that are not listed.
 */
import type { fromJSON } from '@grpc/proto-loader'

type Namespace = Parameters<typeof fromJSON>[0]

const field = (id: number, type: string) => ({ id, type })
const list = (id: number, type: string) => ({ id, type, rule: 'repeated' })
const texts = (id: number) => ({ id, keyType: 'string', type: 'string' })

export const AUTHORIZATION_SERVICE = 'envoy.service.auth.v3.Authorization'

/** HeaderValueOption.HeaderAppendAction (envoy.config.core.v3). */
export const APPEND_ACTION = { append: 0, overwrite: 2 } as const

/** google.rpc.Code */
export const RPC_CODE = { ok: 0, permissionDenied: 7 } as const

const auth: NonNullable<Namespace['nested']> = {
  Authorization: { methods: { Check: { requestType: 'CheckRequest', responseType: 'CheckResponse', comment: '' } } },
  CheckRequest: { fields: { attributes: field(1, 'AttributeContext') } },
  AttributeContext: {
    fields: { request: field(4, 'Request') },
    nested: {
      Request: { fields: { http: field(2, 'HttpRequest') } },
      HttpRequest: {
        fields: {
          method: field(2, 'string'),
          headers: texts(3),
          path: field(4, 'string'),
          host: field(5, 'string'),
          scheme: field(6, 'string'),
          size: field(9, 'int64'),
          protocol: field(10, 'string'),
          body: field(11, 'string'),
          raw_body: field(12, 'bytes'),
          header_map: field(13, 'envoy.config.core.v3.HeaderMap'),
        },
      },
    },
  },
  CheckResponse: {
    oneofs: { http_response: { oneof: ['denied_response', 'ok_response'] } },
    fields: {
      status: field(1, 'google.rpc.Status'),
      denied_response: field(2, 'DeniedHttpResponse'),
      ok_response: field(3, 'OkHttpResponse'),
    },
  },
  DeniedHttpResponse: {
    fields: {
      status: field(1, 'envoy.type.v3.HttpStatus'),
      headers: list(2, 'envoy.config.core.v3.HeaderValueOption'),
      body: field(3, 'string'),
    },
  },
  OkHttpResponse: {
    fields: {
      headers: list(2, 'envoy.config.core.v3.HeaderValueOption'),
      headers_to_remove: list(5, 'string'),
      response_headers_to_add: list(6, 'envoy.config.core.v3.HeaderValueOption'),
    },
  },
}

export const CORE_MESSAGES: NonNullable<Namespace['nested']> = {
  HeaderValue: { fields: { key: field(1, 'string'), value: field(2, 'string'), raw_value: field(3, 'bytes') } },
  HeaderMap: { fields: { headers: list(1, 'HeaderValue') } },
  HeaderValueOption: {
    fields: {
      header: field(1, 'HeaderValue'),
      append: field(2, 'google.protobuf.BoolValue'),
      append_action: field(3, 'int32'),
    },
  },
}

export const TYPE_MESSAGES: NonNullable<Namespace['nested']> = {
  HttpStatus: { fields: { code: field(1, 'int32') } },
}

export const EXT_AUTHZ: Namespace = {
  nested: {
    envoy: {
      nested: {
        service: { nested: { auth: { nested: { v3: { nested: auth } } } } },
        config: { nested: { core: { nested: { v3: { nested: CORE_MESSAGES } } } } },
        type: { nested: { v3: { nested: TYPE_MESSAGES } } },
      },
    },
    google: {
      nested: {
        rpc: { nested: { Status: { fields: { code: field(1, 'int32'), message: field(2, 'string') } } } },
        protobuf: { nested: { BoolValue: { fields: { value: field(1, 'bool') } } } },
      },
    },
  },
}

/** In the form of the decoder: original names, defaults filled in, bytes as buffers, 64-bit integers as strings. */
export interface CheckRequest {
  readonly attributes: {
    readonly request: { readonly http: AskedHttpRequest | null } | null
  } | null
}

export interface AskedHttpRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly path: string
  readonly host: string
  readonly scheme: string
  /** -1: not known. */
  readonly size: string
  /** `HTTP/1.1`, `HTTP/2`. */
  readonly protocol: string
  readonly body: string
  readonly raw_body: Buffer
  readonly header_map: { readonly headers: readonly AskedHeader[] } | null
}

export interface AskedHeader {
  readonly key: string
  readonly value: string
  readonly raw_value: Buffer
}

export interface HeaderOption {
  readonly header: { readonly key: string; readonly value: string }
  readonly append: { readonly value: boolean }
  readonly append_action: number
}

export interface CheckResponse {
  readonly status: { readonly code: number; readonly message: string }
  readonly denied_response?: {
    readonly status: { readonly code: number }
    readonly headers: readonly HeaderOption[]
    readonly body: string
  }
  readonly ok_response?: {
    readonly headers: readonly HeaderOption[]
    readonly headers_to_remove: readonly string[]
    readonly response_headers_to_add: readonly HeaderOption[]
  }
}
