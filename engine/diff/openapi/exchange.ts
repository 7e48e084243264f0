/**
 * The caller of an exchange: the client calls an operation, the provider calls a callback or webhook. Rules and
 * messages depend on it.
 */
import {
  CALLBACK_PARAMETER,
  CALLBACK_REQUEST,
  CALLBACK_RESPONSE,
  CALLBACK_RESPONSE_HEADER,
  ofWebhook,
  REQUEST_BODY,
  REQUEST_HEADER_PARAMETER,
  REQUEST_PARAMETER,
  RESPONSE_BODY,
  RESPONSE_HEADER,
  type SitePair,
} from '../../schema/sites.ts'

type ExchangeKind = 'operation' | 'callback' | 'webhook'

export interface MessageExchange {
  readonly kind: ExchangeKind
  /** The prefix of change names. Calls by the provider have their own rows. */
  readonly prefix: '' | 'callback-'
  /** The prefix of the location text: `callback request body`. */
  readonly lead: string
  readonly body: SitePair
  readonly answer: SitePair
  readonly answerHeader: SitePair
  readonly parameterAt: (place: string) => SitePair
}

const OPERATION: MessageExchange = {
  kind: 'operation',
  prefix: '',
  lead: '',
  body: REQUEST_BODY,
  answer: RESPONSE_BODY,
  answerHeader: RESPONSE_HEADER,
  parameterAt: (place) => (place === 'header' ? REQUEST_HEADER_PARAMETER : REQUEST_PARAMETER),
}

const CALLBACK: MessageExchange = {
  kind: 'callback',
  prefix: 'callback-',
  lead: 'callback ',
  body: CALLBACK_REQUEST,
  answer: CALLBACK_RESPONSE,
  answerHeader: CALLBACK_RESPONSE_HEADER,
  parameterAt: () => CALLBACK_PARAMETER,
}

const WEBHOOK_PARAMETER = ofWebhook(CALLBACK_PARAMETER)

const WEBHOOK: MessageExchange = {
  ...CALLBACK,
  kind: 'webhook',
  lead: 'webhook ',
  body: ofWebhook(CALLBACK_REQUEST),
  answer: ofWebhook(CALLBACK_RESPONSE),
  answerHeader: ofWebhook(CALLBACK_RESPONSE_HEADER),
  parameterAt: () => WEBHOOK_PARAMETER,
}

export const EXCHANGES: Readonly<Record<ExchangeKind, MessageExchange>> = {
  operation: OPERATION,
  callback: CALLBACK,
  webhook: WEBHOOK,
}
