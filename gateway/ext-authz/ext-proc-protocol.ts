/**
 * The part of Envoy's external processing API that is used here: `envoy.service.ext_proc.v3.ExternalProcessor/Process`,
 * with the published names and field numbers of its messages. The decoder skips fields that are not listed.
 */
import type { fromJSON } from '@grpc/proto-loader'
import type { AskedHeader, HeaderOption } from './protocol.ts'

const field = (id: number, type: string) => ({ id, type })
const list = (id: number, type: string) => ({ id, type, rule: 'repeated' })

export const PROCESSOR_SERVICE = 'envoy.service.ext_proc.v3.ExternalProcessor'

/** ProcessingMode.BodySendMode: Envoy holds the request until it has the complete body and the answer about it. */
export const BUFFERED = 2

const processing: NonNullable<Parameters<typeof fromJSON>[0]['nested']> = {
  ExternalProcessor: {
    methods: {
      Process: {
        requestType: 'ProcessingRequest',
        responseType: 'ProcessingResponse',
        requestStream: true,
        responseStream: true,
        comment: '',
      },
    },
  },
  ProcessingRequest: {
    oneofs: {
      request: {
        oneof: [
          'request_headers',
          'response_headers',
          'request_body',
          'response_body',
          'request_trailers',
          'response_trailers',
        ],
      },
    },
    fields: {
      request_headers: field(2, 'HttpHeaders'),
      response_headers: field(3, 'HttpHeaders'),
      request_body: field(4, 'HttpBody'),
      response_body: field(5, 'HttpBody'),
      request_trailers: field(6, 'HttpTrailers'),
      response_trailers: field(7, 'HttpTrailers'),
      observability_mode: field(10, 'bool'),
      protocol_config: field(11, 'ProtocolConfiguration'),
    },
  },
  ProtocolConfiguration: { fields: { request_body_mode: field(1, 'int32') } },
  HttpHeaders: { fields: { headers: field(1, 'envoy.config.core.v3.HeaderMap'), end_of_stream: field(3, 'bool') } },
  HttpBody: { fields: { body: field(1, 'bytes'), end_of_stream: field(2, 'bool') } },
  HttpTrailers: { fields: { trailers: field(1, 'envoy.config.core.v3.HeaderMap') } },
  ProcessingResponse: {
    oneofs: {
      response: {
        oneof: [
          'request_headers',
          'response_headers',
          'request_body',
          'response_body',
          'request_trailers',
          'response_trailers',
          'immediate_response',
        ],
      },
    },
    fields: {
      request_headers: field(1, 'Answered'),
      response_headers: field(2, 'Answered'),
      request_body: field(3, 'Answered'),
      response_body: field(4, 'Answered'),
      request_trailers: field(5, 'TrailersResponse'),
      response_trailers: field(6, 'TrailersResponse'),
      immediate_response: field(7, 'ImmediateResponse'),
    },
  },
  /** HeadersResponse and BodyResponse, which have one form. */
  Answered: { fields: { response: field(1, 'CommonResponse') } },
  TrailersResponse: { fields: { header_mutation: field(1, 'HeaderMutation') } },
  CommonResponse: { fields: { header_mutation: field(2, 'HeaderMutation') } },
  HeaderMutation: {
    fields: {
      set_headers: list(1, 'envoy.config.core.v3.HeaderValueOption'),
      remove_headers: list(2, 'string'),
    },
  },
  ImmediateResponse: {
    fields: {
      status: field(1, 'envoy.type.v3.HttpStatus'),
      headers: field(2, 'HeaderMutation'),
      body: field(3, 'bytes'),
      details: field(5, 'string'),
    },
  },
}

/** @param core messages of envoy.config.core.v3 @param type messages of envoy.type.v3 */
export function extProc(core: typeof processing, type: typeof processing): Parameters<typeof fromJSON>[0] {
  return {
    nested: {
      envoy: {
        nested: {
          service: { nested: { ext_proc: { nested: { v3: { nested: processing } } } } },
          config: { nested: { core: { nested: { v3: { nested: core } } } } },
          type: { nested: { v3: { nested: type } } },
        },
      },
      google: { nested: { protobuf: { nested: { BoolValue: { fields: { value: field(1, 'bool') } } } } } },
    },
  }
}

interface HttpHeaders {
  readonly headers: { readonly headers: readonly AskedHeader[] } | null
  /** There is no body. */
  readonly end_of_stream: boolean
}

interface HttpTrailers {
  readonly trailers: { readonly headers: readonly AskedHeader[] } | null
}

interface HttpBody {
  readonly body: Buffer
  readonly end_of_stream: boolean
}

/** In the form of the decoder: `request` names the member that is there. */
export type ProcessingRequest = {
  /** The calling proxy ignores all answers. */
  readonly observability_mode: boolean
  /** In the first message; null: the calling proxy does not send it. */
  readonly protocol_config: { readonly request_body_mode: number } | null
} & (
  | { readonly request: 'request_headers'; readonly request_headers: HttpHeaders }
  | { readonly request: 'response_headers'; readonly response_headers: HttpHeaders }
  | { readonly request: 'request_body'; readonly request_body: HttpBody }
  | { readonly request: 'response_body'; readonly response_body: HttpBody }
  | { readonly request: 'request_trailers'; readonly request_trailers: HttpTrailers }
  | { readonly request: 'response_trailers' }
)

interface HeaderMutation {
  readonly set_headers: readonly HeaderOption[]
  readonly remove_headers: readonly string[]
}

type Answered = { readonly response: { readonly header_mutation?: HeaderMutation } }

export type ProcessingResponse =
  | { readonly [part in 'request_headers' | 'request_body' | 'response_headers' | 'response_body']?: Answered }
  | { readonly [part in 'request_trailers' | 'response_trailers']?: { readonly header_mutation?: HeaderMutation } }
  | {
      readonly immediate_response: {
        readonly status: { readonly code: number }
        readonly headers: HeaderMutation
        readonly body: Buffer
        readonly details: string
      }
    }
