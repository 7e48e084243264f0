/**
 * Resolves references of a JSON Schema: by pointer, by `$anchor`, by the `$id` of a schema in the document, or to a
 * file given with it. Nothing is fetched.
 */
import { pointerOf, ROOT, type Located } from '../../schema/located.ts'
import { hidesSiblings, type SchemaDialect, type SchemaSource } from '../../schema/source.ts'
import { OpenApiDocuments, type FurtherDocuments } from '../documents.ts'
import type { DanglingReference } from '../unresolved.ts'
import { Addresses } from '../addresses.ts'

export class SchemaDocuments implements SchemaSource {
  readonly dialect: SchemaDialect
  readonly root: Located
  readonly evaluatesContained: boolean | null
  readonly #files: OpenApiDocuments
  readonly #addresses: Addresses
  readonly #dangling = new Map<string, DanglingReference>()

  constructor(
    root: unknown,
    { dialect, evaluatesContained }: Readonly<Required<Pick<SchemaSource, 'dialect' | 'evaluatesContained'>>>,
    files: FurtherDocuments,
  ) {
    this.#addresses = new Addresses({ value: root, at: ROOT, document: '' }, { hidesSiblings: hidesSiblings(dialect) })
    this.#files = new OpenApiDocuments(root, dialect, files, { addresses: this.#addresses })
    this.dialect = dialect
    this.evaluatesContained = evaluatesContained
    this.root = this.#files.root
  }

  /** Followed references that resolved to nothing, each once. */
  get dangling(): readonly DanglingReference[] {
    return [...this.#dangling.values()]
  }

  resolve(reference: string, from: Located): Located | null {
    const found = this.find(reference, from)
    if (found === null) this.#noteDangling(reference, from)
    return found
  }

  knows(reference: string, from: Located): boolean {
    return this.find(reference, from) !== null
  }

  /** Keeps the first holder by place, whatever the order in which they were met. */
  #noteDangling(reference: string, holder: Located): void {
    const known = this.#dangling.get(reference)
    if (known !== undefined && pointerOf(known.holder.at) <= pointerOf(holder.at)) return
    this.#dangling.set(reference, { reference, holder, isPart: true })
  }

  /** As `resolve`, without recording unresolved references. */
  find(reference: string, from: Located): Located | null {
    const addressed = this.#addresses.find(reference, from)
    return addressed === undefined ? this.#files.resolve(reference, from) : addressed
  }

  /** Address of the innermost enclosing schema that has one. */
  baseOf(from: Located): string {
    return this.#addresses.baseOf(from)
  }
}
