/**
 * The documents of an OpenAPI contract, and the targets of its references. References reach the contract itself and
 * the files given with it. Nothing is fetched.
 */
import { isRecord, memberOf, placeAt, ROOT, type Located } from '../schema/located.ts'
import { hidesSiblings, type SchemaDialect, type SchemaSource } from '../schema/source.ts'
import { Inheritance } from './inheritance.ts'
import { Addresses } from './addresses.ts'
import { joinPath } from './file-references.ts'
import { withOwnDraft } from './schema-drafts.ts'
import type { SurveyedReferences } from './json-survey.ts'
import { localRefPointer, parsePointer, resolvePointer } from './pointer.ts'
import { isAbsolute, relativePath, resolveUri } from './uri.ts'

/** Files that references may lead to, by their paths from the folder of the document. */
export interface FurtherDocuments {
  readonly paths: readonly string[]
  /** Whether the path is that of the document itself, to which other files refer by its name. */
  isDocument(path: string): boolean
  /** Undefined if the file was not given or cannot be read. */
  open(path: string): unknown
  /** Dynamic anchors that several of the documents define. */
  readonly sharedAnchors: () => ReadonlySet<string>
}

export const NO_FILES: FurtherDocuments = {
  paths: [],
  isDocument: () => false,
  open: () => undefined,
  sharedAnchors: () => new Set(),
}

/** Finds schemas by the addresses that they state. */
interface ByAddress {
  find(reference: string, from: Located): Located | null | undefined
  baseOf(from: Located): string
}

/** What is known of a root before its references are followed. */
interface KnownReferences {
  /** What the root refers to. */
  readonly surveyed?: SurveyedReferences | undefined
  /** For documents whose schemas state addresses. */
  readonly addresses?: ByAddress | null
  /** Whether a pointer leads on behind a reference on its way, as readers of the format follow it. */
  readonly isThroughReferences?: boolean
  /** As in `SchemaSource`. */
  readonly evaluatesContained?: boolean | null
}

export class OpenApiDocuments implements SchemaSource {
  readonly dialect: SchemaDialect
  readonly evaluatesContained: boolean | null
  readonly root: Located
  readonly surveyed: SurveyedReferences | undefined
  readonly #given: FurtherDocuments
  readonly #files = new Map<string, unknown>()
  readonly #resolved = new Map<string, Located | null>()
  readonly #addresses: ByAddress | null
  /** The address from which a reference starts, if schemas of the document state any. */
  readonly baseOf?: (from: Located) => string
  /** Of documents whose references or anchors were followed, by path. */
  readonly #addressesOf = new Map<string, ByAddress>()
  #inheritance: Inheritance | null = null
  readonly #isThroughReferences: boolean
  /** Pointers that are followed through references now: one that leads through itself has no target. */
  readonly #followed = new Set<string>()

  constructor(root: unknown, dialect: SchemaDialect, files: FurtherDocuments, known: KnownReferences = {}) {
    this.root = { value: root, at: ROOT, document: '' }
    this.dialect = dialect
    this.evaluatesContained = known.evaluatesContained === undefined || known.evaluatesContained
    this.surveyed = known.surveyed
    this.#given = files
    this.#files.set('', root)
    this.#addresses = known.addresses ?? null
    this.#isThroughReferences = known.isThroughReferences === true
    if (known.addresses) this.baseOf = (from) => this.#addressesOfDocument(from.document)?.baseOf(from) ?? ''
  }

  /** A pointer that a schema with an address does not have is followed from the document, as most tools do. */
  resolve(reference: string, from: Located): Located | null {
    return this.#addressed(reference, from) ?? this.#inFile(reference, from) ?? this.#written(reference, from)
  }

  #addressed(reference: string, from: Located): Located | null | undefined {
    return this.#addressesOfDocument(from.document)?.find(reference, from)
  }

  #addressesOfDocument(document: string): ByAddress | null {
    return document === '' ? this.#addresses : this.#addressesIn(document)
  }

  /**
   * What a reference names in another file: by the address that a schema there states, or by the path
   * from the address of this document. The reference may start from a schema within the document.
   */
  #inFile(reference: string, from: Located): Located | null {
    if (reference.startsWith('#') || this.#given.paths.length === 0) return null
    const start: Located = { value: this.#open(from.document), at: ROOT, document: from.document }
    const addresses = this.#addressesOfDocument(from.document)
    const [base, own] = [addresses?.baseOf(from) ?? '', addresses?.baseOf(start) ?? '']
    const { uri, fragment } = resolveUri(reference, base)
    if (!isAbsolute(uri) && base === own) return null
    const target = `${uri}#${fragment}`
    for (const document of isAbsolute(uri) ? this.#given.paths : []) {
      const found = this.#addressesIn(document)?.find(target, { ...start, document })
      if (found !== undefined) return found
    }
    const path = relativePath(uri, own)
    return path === null ? null : this.#find(`${path}#${fragment}`, start)
  }

  /** Schemas of OpenAPI 2.0 and 3.0 state no addresses. */
  #addressesIn(document: string): ByAddress | null {
    if (this.dialect === 'openapi-2.0' || this.dialect === 'openapi-3.0') return null
    const known = this.#addressesOf.get(document)
    if (known !== undefined) return known
    const addresses = new Addresses(
      { value: this.#open(document), at: ROOT, document },
      { hidesSiblings: hidesSiblings(this.dialect) },
    )
    this.#addressesOf.set(document, addresses)
    return addresses
  }

  #written(reference: string, from: Located): Located | null {
    const key = from.document === '' ? reference : `${from.document} ${reference}`
    const known = this.#resolved.get(key)
    if (known !== undefined) return known
    const found = this.#find(reference, from)
    this.#resolved.set(key, found)
    return found
  }

  knows(reference: string, from: Located): boolean {
    const found = this.#addressed(reference, from) ?? this.#inFile(reference, from) ?? this.#find(reference, from)
    return found !== null
  }

  subtypes(schema: Located): readonly string[] | null {
    this.#inheritance ??= new Inheritance(this)
    return this.#inheritance.subtypes(schema)
  }

  /** The object itself, or the target of its `$ref`; null if there is none. Chains are followed, loops are not. */
  follow(located: Located): Located | null {
    let current = located
    for (let hops = 0; hops < 32; hops += 1) {
      if (!isRecord(current.value) || typeof current.value.$ref !== 'string') return current
      const next = this.resolve(current.value.$ref, current)
      if (next === null) return null
      current = next
    }
    return null
  }

  #find(reference: string, from: Located): Located | null {
    const hash = reference.indexOf('#')
    const file = hash === -1 ? reference : reference.slice(0, hash)
    const fragment = hash === -1 ? '' : reference.slice(hash + 1)
    const path = file === '' ? from.document : joinPath(from.document, file)
    const document = this.#given.isDocument(path) ? this.root.document : path
    const root = this.#open(document)
    if (root === undefined) return null
    const pointer = localRefPointer(`#${fragment}`)
    if (pointer === null) {
      return this.#addressesIn(document)?.find(`#${fragment}`, { value: root, at: ROOT, document }) ?? null
    }
    const target = resolvePointer(root, pointer)
    if (target.found) return { value: target.value, at: placeAt(pointer), document }
    return this.#isThroughReferences ? this.#behindReferences({ value: root, at: ROOT, document }, pointer) : null
  }

  #behindReferences(root: Located, pointer: string): Located | null {
    const key = `${root.document} ${pointer}`
    if (this.#followed.has(key)) return null
    this.#followed.add(key)
    let current: Located | null = root
    for (const name of parsePointer(pointer) ?? []) {
      const holder: Located | null = current === null ? null : this.follow(current)
      current = holder === null ? null : memberOf(holder, name)
    }
    this.#followed.delete(key)
    return current
  }

  #open(path: string): unknown {
    if (!this.#files.has(path)) this.#files.set(path, withOwnDraft(this.#given.open(path), this.dialect))
    return this.#files.get(path)
  }
}
