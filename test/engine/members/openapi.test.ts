/** The members of OpenAPI 3.2: what the change of each one is at the worst. */
import { OPENAPI_DOCUMENT, OPENAPI_GRAMMAR } from './openapi.ts'
import { checkMembers, forPeople } from './run.ts'

checkMembers('OpenAPI 3.2', {
  type: 'openapi',
  grammar: OPENAPI_GRAMMAR,
  document: OPENAPI_DOCUMENT,
  silent: {
    ...forPeople(`
      body.description
      components.examples
      contact.email
      contact.name
      contact.url
      contract.externalDocs
      contract.info
      contract.tags
      docs.description
      docs.url
      example.dataValue
      example.description
      example.externalValue
      example.serializedValue
      example.summary
      example.value
      header.description
      header.example
      info.contact
      info.description
      info.license
      info.summary
      info.termsOfService
      info.title
      info.version
      license.identifier
      license.name
      license.url
      link.description
      media.description
      media.example
      media.examples
      operation.description
      operation.externalDocs
      operation.summary
      parameter.description
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
      scheme.description
      server.description
      server.name
      tag.description
      tag.externalDocs
      tag.kind
      tag.name
      tag.parent
      tag.summary
      variable.description
    `),
    'contract.$self': 'It says where the contract is. References within the document lead where they led.',
    'header.deprecated': 'Readers still get the header.',
    'scheme.bearerFormat': 'A hint on the form of a token that clients pass on as it is (OpenAPI 3.1.1 §4.8.27.1).',
    'scheme.deprecated': 'Clients are still admitted by it.',
    'xml.prefix': 'Readers know a namespace by its address (Namespaces in XML 1.0 §2.1).',
  },
  harmless: {
    'operation.deprecated': 'Callers are still served.',
    'operation.operationId': 'It is not sent. Generated clients are made anew.',
    'operation.tags': 'It is not sent.',
    'parameter.deprecated': 'Callers may still send it.',
    'schema.default': 'No value is refused for it (JSON Schema 2020-12 Validation §9.2).',
    'schema.deprecated': 'Values are still taken and given.',
    'schema.readOnly': 'Of an optional property: no value is refused for it.',
    'schema.writeOnly': 'Of an optional property: readers do without it.',
  },
})
