/** Reads a standalone JSON Schema, drafts 3 to 2020-12: the text, the dialect, and the targets of references. */
import type { CompareOptions } from '../../model/format.ts'
import { ok, type Result } from '../../common/result.ts'
import { isRecord, memberOf, type Located } from '../../schema/located.ts'
import { readDocument } from '../document.ts'
import { filesHandedIn } from '../further-files.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../model/limits.ts'
import { malformedParts, partTable, type MalformedPart } from '../malformed-parts.ts'
import { readInPlace } from '../misplaced-references.ts'
import type { Locate } from '../positions.ts'
import { dialectOfDraft, draftOf, evaluatesContainedIn, holdsKeyword, holdsKeywordsOnly } from '../schema-keywords.ts'
import { withPlainSchemaReferences } from '../plain-references.ts'
import { SchemaDocuments } from './references.ts'
import { withKnownKeywords } from '../schema-drafts.ts'
import { unreadableAt } from '../unreadable.ts'

export interface JsonSchemaContract {
  readonly root: Located
  readonly source: SchemaDocuments
  /** Name of the draft. Null if the document states none; 2020-12 is then assumed. */
  readonly draft: string | null
  readonly malformed: ReadonlyMap<string, MalformedPart>
  readonly locate: Locate
}

/** Leaves out what only other drafts have, for two sides that state different ones. */
interface SchemaDocumentOptions extends CompareOptions {
  readonly isStrict?: boolean
}

/** Reads one side. The problem states why a text is not a JSON Schema. An empty side is null. */
export function readJsonSchema(
  text: string,
  side: 'base' | 'head',
  options: SchemaDocumentOptions,
): Result<JsonSchemaContract | null> {
  if (text === '') return ok(null)
  const limits = options.limits ?? DEFAULT_DOCUMENT_LIMITS
  const read = readDocument(text, limits)
  if (!read.ok) return read
  const { root, locate } = read.value
  if (!isJsonSchema(root)) {
    const fix = 'A schema is an object with keywords such as type, properties or $ref, or true or false.'
    return unreadableAt(locate, '', 'as a JSON Schema: it holds no keyword', fix)
  }
  const files = filesHandedIn(side, options, text)
  const draft = draftOf(isRecord(root) ? root['$schema'] : null)
  const hasFurtherDrafts = text.indexOf('$schema') !== text.lastIndexOf('$schema')
  const known = withKnownKeywords(root, draft, { hasFurtherDrafts, isStrict: options.isStrict === true })
  const reading = {
    dialect: dialectOfDraft(draft),
    evaluatesContained: hasFurtherDrafts ? null : evaluatesContainedIn(draft),
  }
  return ok(
    readInPlace(
      { root: withPlainSchemaReferences(known, draft, { text, shared: files.sharedAnchors }), files },
      (contents) => {
        const source = new SchemaDocuments(contents.root, reading, contents.files)
        const resolve = source.find.bind(source)
        const malformed = malformedParts(PARTS, { located: source.root, kind: 'schema', resolve })
        return { root: source.root, source, draft, malformed, resolve, locate }
      },
    ),
  )
}

/** The empty object is a schema that admits everything, and so is one with annotations only. */
function isJsonSchema(root: unknown): boolean {
  return isRecord(root) && holdsKeyword(root) ? true : holdsKeywordsOnly(root)
}

const PARTS = partTable({}, /^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/)

/** The named schemas that others may refer to, under either name of the keyword, by `keyword/name`. */
export function definitionsOf(contract: JsonSchemaContract): ReadonlyMap<string, Located> {
  const found = new Map<string, Located>()
  for (const keyword of ['$defs', 'definitions']) {
    const holder = memberOf(contract.root, keyword)
    if (holder === null || !isRecord(holder.value)) continue
    for (const name of Object.keys(holder.value)) {
      const definition = memberOf(holder, name)
      // A definition moved from `definitions` to `$defs` is the same definition.
      if (definition !== null && !found.has(name)) found.set(name, definition)
    }
  }
  return found
}
