/** The parts of an AsyncAPI document, 2.x and 3.x. */
import { isRecord, type Located } from '../../schema/located.ts'
import {
  ANY_NAME,
  extensibleMap,
  list,
  malformedParts,
  map,
  one,
  partTable,
  SECURITY_SCHEME_TEXTS,
  TEXT,
  TEXT_MAP,
  TEXTS,
  type MalformedPart,
  type PartTable,
} from '../malformed-parts.ts'
import type { OpenApiDocuments } from '../documents.ts'
import { otherLanguage, unstatedLanguage } from './messages.ts'
import { partWithTraits, traitOrderOf } from './traits.ts'

/** @param isNamed whether a channel names its servers instead of referring to them */
const partsOf = (isNamed: boolean): PartTable =>
  partTable(
    {
      contract: {
        defaultContentType: TEXT,
        channels: map('channel'),
        operations: map('operation'),
        servers: map('server'),
        components: one('components'),
      },
      components: {
        schemas: map('described'),
        servers: map('server'),
        channels: map('channel'),
        operations: map('operation'),
        messages: map('message'),
        parameters: map('parameter'),
        securitySchemes: map('security scheme'),
        serverVariables: map('server variable'),
        operationTraits: map('operation'),
        messageTraits: map('message'),
        replies: map('reply'),
        replyAddresses: map('runtime value'),
        correlationIds: map('runtime value'),
        serverBindings: map('bindings'),
        channelBindings: map('bindings'),
        operationBindings: map('bindings'),
        messageBindings: map('bindings'),
      },
      channel: {
        address: TEXT,
        publish: one('operation'),
        subscribe: one('operation'),
        parameters: map('parameter'),
        messages: map('message'),
        bindings: one('bindings'),
        servers: isNamed ? TEXTS : list('server'),
      },
      operation: {
        operationId: TEXT,
        action: TEXT,
        channel: one('channel'),
        message: one('message'),
        messages: list('message'),
        bindings: one('bindings'),
        security: list('requirement'),
        traits: list('operation'),
        reply: one('reply'),
      },
      reply: { address: one('runtime value'), channel: one('channel'), messages: list('message') },
      // A correlation id, or the address of a reply.
      'runtime value': { location: TEXT },
      message: {
        name: TEXT,
        messageId: TEXT,
        contentType: TEXT,
        schemaFormat: TEXT,
        payload: one('described'),
        headers: one('described'),
        correlationId: one('runtime value'),
        bindings: one('bindings'),
        traits: list('message'),
        oneOf: list('message'),
      },
      // A schema, perhaps in another language or with its language beside it.
      described: { schemaFormat: TEXT, schema: one('schema') },
      parameter: { schema: one('schema'), enum: TEXTS, default: TEXT, location: TEXT },
      bindings: { [ANY_NAME]: one('binding') },
      // The other settings are compared by value.
      binding: {
        headers: one('described'),
        query: one('described'),
        key: one('described'),
        correlationData: one('described'),
      },
      server: {
        url: TEXT,
        host: TEXT,
        pathname: TEXT,
        protocol: TEXT,
        protocolVersion: TEXT,
        variables: map('server variable'),
        security: list('requirement'),
        bindings: one('bindings'),
      },
      'server variable': { default: TEXT, enum: TEXTS },
      // Of 2.x. In 3.x it is the scheme itself.
      requirement: { [ANY_NAME]: TEXTS },
      'security scheme': {
        ...SECURITY_SCHEME_TEXTS,
        flows: extensibleMap('flow'),
        scopes: TEXTS,
      },
      flow: {
        authorizationUrl: TEXT,
        tokenUrl: TEXT,
        refreshUrl: TEXT,
        scopes: TEXT_MAP,
        availableScopes: TEXT_MAP,
      },
    },
    /^#\/components\/schemas\/[^/]+$/,
    ['components', 'flow', 'requirement'],
  )

const PARTS = { named: partsOf(true), referred: partsOf(false) }

interface Versioned {
  readonly documents: OpenApiDocuments
  readonly version: string
}

export function malformedAsyncApiParts(api: Versioned): ReadonlyMap<string, MalformedPart> {
  const { documents, version } = api
  const isVersion2 = version.startsWith('2')
  return malformedParts(isVersion2 ? PARTS.named : PARTS.referred, {
    located: documents.root,
    kind: 'contract',
    resolve: documents.resolve.bind(documents),
    kindOf: (kind, part, owner) => {
      if (kind === 'described') return kindOfDescribed(part, owner, api)
      return kind === 'requirement' && !isVersion2 ? 'security scheme' : kind
    },
  })
}

/** What is written in another language is compared as a whole. */
function kindOfDescribed(part: Located, owner: Located, { documents, version }: Versioned): string | null {
  const value = documents.follow(part)?.value
  if (isRecord(value) && value['schemaFormat'] !== undefined && value['schema'] !== undefined)
    return otherLanguage(value['schemaFormat']) === null ? 'described' : null
  const stated = partWithTraits(owner, 'schemaFormat', traitOrderOf(version), documents)?.value
  const isForeign = part.at.step === 'payload' && otherLanguage(stated) !== null
  return isForeign || unstatedLanguage(value) !== null ? null : 'schema'
}
