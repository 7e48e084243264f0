/** Reads a document as an OpenAPI contract. Parts behind misplaced references are read in place of the references. */
import { isRecord, ROOT } from '../../schema/located.ts'
import { Addresses } from '../addresses.ts'
import type { SourceDocument } from '../document.ts'
import { NO_FILES, OpenApiDocuments, type FurtherDocuments } from '../documents.ts'
import { readInPlace } from '../misplaced-references.ts'
import { withStatedDrafts } from '../schema-drafts.ts'
import { draftOf, evaluatesContainedIn, isOpenApiDialect } from '../schema-keywords.ts'
import { withPlainReferences } from '../plain-references.ts'
import { dialectOfVersion, type OpenApiContract } from './contract.ts'
import { malformedOpenApiParts } from './parts.ts'
import { isSince } from './version-members.ts'

/**
 * Null if it is no OpenAPI contract.
 * @param text that the document was read from; without it dynamic references and addresses of schemas are left as they are
 */
export function readOpenApiContract(
  { root, surveyed }: SourceDocument,
  text: string,
  files: FurtherDocuments,
): OpenApiContract | null {
  const version = supportedVersion(root)
  if (version === null) return null
  const dialect = dialectOfVersion(version)
  const isSwagger = dialect === 'openapi-2.0'
  const statesDialects = text !== '' && (surveyed?.hasDialects ?? STATES_DIALECTS.test(text))
  const isOfDrafts = dialect === 'json-schema' && (statesDialects || text.includes('jsonSchemaDialect'))
  const stated = isOfDrafts ? withStatedDrafts(root) : { root, drafts: new Set<string>() }
  const stating = isRecord(root) ? draftOf(root['jsonSchemaDialect']) : null
  // The dialects of OpenAPI extend 2020-12.
  const draft = stating === null || isOpenApiDialect(stating) ? '2020-12' : stating
  const plain = dialect === 'json-schema' ? withPlainReferences(stated.root, text, draft, files.sharedAnchors) : root
  const evaluates = evaluatesContainedIn(stating)
  const isOneReading = [...stated.drafts].every((draft) => evaluatesContainedIn(draft) === evaluates)
  return readInPlace({ root: plain, files }, (contents) => {
    const documents = new OpenApiDocuments(contents.root, dialect, contents.files, {
      surveyed: contents.root === root ? surveyed : undefined,
      addresses: schemaAddresses(contents.root, version, text),
      evaluatesContained: isOneReading ? evaluates : null,
    })
    const malformed = malformedOpenApiParts(documents)
    const resolve = documents.resolve.bind(documents)
    return { version, isSwagger, documents, root: documents.root, malformed, statesDialects, resolve }
  })
}

/** For a text of which no members are known. The keyword may be written with escapes. */
const STATES_DIALECTS = /\$schema|\\(?:u00|U0000|x)/

/** The document with the targets of misplaced references, such as `paths: {$ref}`, in their places. */
export function rootInPlace(document: SourceDocument): unknown {
  return readOpenApiContract(document, '', NO_FILES)?.root.value ?? document.root
}

/** Schemas state addresses since 3.1, and documents since 3.2 (`$self`). */
function schemaAddresses(root: unknown, version: string, text: string): Addresses | null {
  if (dialectOfVersion(version) !== 'json-schema' || !/\$(?:id|self)\b/.test(text)) return null
  const self = isRecord(root) && isSince(version, '3.2') ? root['$self'] : undefined
  return new Addresses(
    { value: root, at: ROOT, document: '' },
    { own: typeof self === 'string' ? self : '', hidesSiblings: false },
  )
}

/** The stated OpenAPI version. YAML may have read `2.0` as a number. */
function supportedVersion(root: unknown): string | null {
  if (!isRecord(root)) return null
  const stated = root.openapi ?? root.swagger
  const version = typeof stated === 'number' ? stated.toFixed(1) : stated
  return typeof version === 'string' && /^(?:2\.0|3\.\d+(?:\.\d+)?)/.test(version) ? version : null
}
