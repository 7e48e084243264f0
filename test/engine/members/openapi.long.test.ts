/** The members of OpenAPI 3.2: what the change of each one is at the worst. */
import { OPENAPI_DOCUMENT, OPENAPI_GRAMMAR } from './openapi.ts'
import {
  checkMembers,
  API_FOR_PEOPLE,
  forPeople,
  pruned,
  reasonsFor,
  withPartsInPlace,
  without,
  type Reasons,
} from './run.ts'

/** What OpenAPI 3.2 added to 3.1, and 3.1 to 3.0. */
const ADDED_BY_32 = `
  contract.$self server.name path.query path.additionalOperations components.mediaTypes
  media.itemSchema media.prefixEncoding media.itemEncoding media.description
  encoding.encoding encoding.prefixEncoding encoding.itemEncoding response.summary example.dataValue example.serializedValue
  tag.summary tag.parent tag.kind scheme.deprecated scheme.oauth2MetadataUrl flows.deviceAuthorization
  flow.deviceAuthorizationUrl discriminator.defaultMapping xml.nodeType
`
const ADDED_BY_31 = `
  contract.jsonSchemaDialect contract.webhooks info.summary license.identifier components.pathItems schema.examples
`
const GRAMMAR_31 = without(OPENAPI_GRAMMAR, ADDED_BY_32)
const GRAMMAR_30 = without(GRAMMAR_31, ADDED_BY_31)

const TABLES: { readonly silent: Reasons; readonly harmless: Reasons } = {
  silent: {
    ...API_FOR_PEOPLE,
    ...forPeople(`
      body.description
      components.examples
      contract.externalDocs
      contract.tags
      example.dataValue
      example.description
      example.externalValue
      example.serializedValue
      example.summary
      example.value
      header.description
      header.example
      header.examples
      info.summary
      license.identifier
      link.description
      media.description
      media.example
      media.examples
      parameter.example
      parameter.examples
      path.description
      path.summary
      response.description
      response.summary
      schema.description
      schema.example
      schema.examples
      schema.externalDocs
      schema.title
      server.description
      server.name
      tag.kind
      tag.parent
      tag.summary
      variable.description
    `),
    'contract.openapi':
      'Parts are compared by what they mean in their version. An unknown edition of 3.x is read as the newest.',
    'contract.$self': 'It says where the contract is. References within the document lead where they led.',
    'header.allowReserved': 'Fields are not percent-encoded; it is of the query (OpenAPI 3.1.1 §4.8.12.2.2).',
    'header.deprecated': 'Readers still get the header.',
    'scheme.bearerFormat': 'A hint on the form of a token that clients pass on as it is (OpenAPI 3.1.1 §4.8.27.1).',
    'scheme.deprecated': 'Clients are still admitted by it.',
    'xml.prefix': 'Readers know a namespace by its address (Namespaces in XML 1.0 §2.1).',
  },
  harmless: {
    'operation.deprecated': 'Callers are still served.',
    'operation.tags': 'It is not sent.',
    'parameter.deprecated': 'Callers may still send it.',
    'schema.default': 'No value is refused for it (JSON Schema 2020-12 Validation §9.2).',
    'schema.deprecated': 'Values are still taken and given.',
    'schema.readOnly': 'Of an optional property: no value is refused for it.',
  },
}

const { mediaTypes, pathItems } = OPENAPI_DOCUMENT.components
const MEDIA_TYPE = ['#/components/mediaTypes/M', mediaTypes.M] as const
const PATH_ITEM = ['#/components/pathItems/I', pathItems.I] as const

for (const [version, grammar, parts] of [
  ['3.2.0', OPENAPI_GRAMMAR, []],
  ['3.1.1', GRAMMAR_31, [MEDIA_TYPE]],
  ['3.0.4', GRAMMAR_30, [MEDIA_TYPE, PATH_ITEM]],
] as const) {
  const document = withPartsInPlace({ ...OPENAPI_DOCUMENT, openapi: version }, new Map<unknown, unknown>(parts))
  checkMembers(`OpenAPI ${version}`, {
    type: 'openapi',
    grammar,
    document: pruned(document, grammar),
    referable: 'path parameter body media response callback example link header scheme schema',
    closed: 'requirement',
    silent: reasonsFor(grammar, TABLES.silent),
    harmless: reasonsFor(grammar, TABLES.harmless),
  })
}
