/** The parts of an OpenAPI contract. Swagger 2.0 and OpenAPI 3 have no member of two meanings. */
import { memberOf } from '../../schema/located.ts'
import {
  ANY_NAME,
  extensibleMap,
  FLAG,
  keywordsOfDraft,
  list,
  map,
  malformedParts,
  one,
  partTable,
  PLAIN_KEYWORDS,
  SECURITY_SCHEME_TEXTS,
  TEXT,
  TEXTS,
  VALUE_MAP,
  type MalformedPart,
  type PartTable,
} from '../malformed-parts.ts'
import type { OpenApiDocuments } from '../documents.ts'
import { METHODS } from './contract.ts'

/** @param draft that the schemas are written in, or null */
const partsOf = (draft: string | null): PartTable =>
  partTable(
    {
      schema: keywordsOfDraft(draft),
      contract: {
        paths: extensibleMap('path item'),
        webhooks: extensibleMap('path item'),
        components: one('components'),
        definitions: map('schema'),
        parameters: map('parameter'),
        responses: extensibleMap('response'),
        securityDefinitions: map('security scheme'),
        security: list('requirement'),
        servers: list('server'),
        jsonSchemaDialect: TEXT,
        host: TEXT,
        basePath: TEXT,
        schemes: TEXTS,
        consumes: TEXTS,
        produces: TEXTS,
      },
      components: {
        schemas: map('schema'),
        responses: extensibleMap('response'),
        parameters: map('parameter'),
        requestBodies: map('request body'),
        headers: map('parameter'),
        securitySchemes: map('security scheme'),
        links: map('link'),
        callbacks: extensibleMap('callback'),
        pathItems: extensibleMap('path item'),
        mediaTypes: map('media type'),
      },
      'path item': {
        ...Object.fromEntries(METHODS.map((method) => [method, one('operation')])),
        additionalOperations: map('operation'),
        parameters: list('parameter'),
        servers: list('server'),
      },
      operation: {
        operationId: TEXT,
        tags: TEXTS,
        deprecated: FLAG,
        parameters: list('parameter'),
        requestBody: one('request body'),
        responses: extensibleMap('response'),
        callbacks: extensibleMap('callback'),
        security: list('requirement'),
        servers: list('server'),
        schemes: TEXTS,
        consumes: TEXTS,
        produces: TEXTS,
      },
      // In Swagger 2.0 parameters and headers are schemas themselves.
      parameter: {
        ...PLAIN_KEYWORDS,
        name: TEXT,
        in: TEXT,
        required: FLAG,
        deprecated: FLAG,
        style: TEXT,
        explode: FLAG,
        allowReserved: FLAG,
        allowEmptyValue: FLAG,
        collectionFormat: TEXT,
        schema: one('schema'),
        content: map('media type'),
        items: one('schema'),
      },
      'request body': { required: FLAG, content: map('media type') },
      response: {
        headers: map('parameter'),
        content: map('media type'),
        links: map('link'),
        schema: one('schema'),
      },
      'media type': {
        schema: one('schema'),
        itemSchema: one('schema'),
        encoding: map('encoding'),
        prefixEncoding: list('encoding'),
        itemEncoding: one('encoding'),
      },
      encoding: {
        contentType: TEXT,
        style: TEXT,
        explode: FLAG,
        allowReserved: FLAG,
        headers: map('parameter'),
        encoding: map('encoding'),
      },
      callback: { [ANY_NAME]: one('path item') },
      requirement: { [ANY_NAME]: TEXTS },
      'security scheme': {
        ...SECURITY_SCHEME_TEXTS,
        flow: TEXT,
        flows: one('flows'),
        scopes: VALUE_MAP,
        oauth2MetadataUrl: TEXT,
        authorizationUrl: TEXT,
        tokenUrl: TEXT,
      },
      flows: { [ANY_NAME]: one('flow') },
      flow: {
        authorizationUrl: TEXT,
        tokenUrl: TEXT,
        refreshUrl: TEXT,
        deviceAuthorizationUrl: TEXT,
        scopes: VALUE_MAP,
      },
      server: { url: TEXT, variables: map('server variable') },
      'server variable': { default: TEXT, enum: TEXTS },
      link: { operationId: TEXT, operationRef: TEXT, parameters: VALUE_MAP, server: one('server') },
    },
    /^#\/(?:components\/\w+|definitions|parameters|responses)\/[^/]+$/,
    ['components', 'encoding', 'flows', 'flow', 'server', 'server variable', 'requirement'],
  )

const PARTS = partsOf(null)
/** Schemas of 3.0 with numbers in `exclusiveMinimum` are common, and readers take them as they are meant. */
const PARTS_SINCE_31 = partsOf('2020-12')

/** @param isStrict takes only the forms of keywords that OpenAPI 3.1 has, for a contract that moves to it or away from it */
export function malformedOpenApiParts(
  documents: OpenApiDocuments,
  isStrict = false,
): ReadonlyMap<string, MalformedPart> {
  const { root, dialect } = documents
  const isOfOwnDialect = dialect === 'json-schema' && memberOf(root, 'jsonSchemaDialect') === null
  const parts = isStrict && isOfOwnDialect ? PARTS_SINCE_31 : PARTS
  return malformedParts(parts, { located: root, kind: 'contract', resolve: documents.resolve.bind(documents) })
}
