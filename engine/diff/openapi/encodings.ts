/** The Encoding Objects of one media type: how fields of a form and parts of a multipart body are serialised. */
import { itemsAt } from '../../contracts/openapi/contract.ts'
import { contentOf, EACH_ITEM, headersOf, type Header, type MediaType } from '../../contracts/openapi/payloads.ts'
import type { Operation as OperationName } from '../../model/finding.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, memberOf, type JsonRecord, type Located } from '../../schema/located.ts'
import { matchByKey } from '../match.ts'
import { isMediaTypeWithin } from './media-types.ts'
import { reportChanged } from './delta-text.ts'
import type { PayloadPlace, Walk } from './walk.ts'
import { anySchema, writingChange } from './serialization.ts'

/**
 * The default serialisation of a field depends on its schema. Two encodings differ only if one of them states
 * something.
 */
export function compareEncodings(
  walk: Walk,
  base: MediaType,
  head: MediaType,
  place: PayloadPlace,
  operation: OperationName,
): void {
  for (const field of new Set([...Object.keys(base.encoding), ...Object.keys(head.encoding)])) {
    const [before, after] = [encodingOf(base, field), encodingOf(head, field)]
    const reportPart: ReportPart = (before, after) => {
      const facts = { of: place.of, status: place.status, name: head.name, field, before, after }
      reportChanged(walk, 'media-type-encoding', operation, head.located, [before, after], facts)
    }
    if (!isEqual(before, after)) reportPart(wordsOf(before), wordsOf(after))
    new PartHeaders(walk, { base, head, field }, place, operation, reportPart).compare()
  }
}

type ReportPart = (before: string, after: string) => void

function encodingOf({ name, encoding }: MediaType, field: string): Readonly<Record<string, unknown>> {
  const stated = encoding[field]
  const { contentType, style, explode, allowReserved } = isRecord(stated) ? stated : NOTHING
  // In other media types a stated style replaces the content type, even if it is the default style.
  if (!isMediaTypeWithin(name, FORM)) return { contentType, style, explode, allowReserved }
  const kind = style ?? 'form'
  return { contentType, style: kind, explode: explode ?? kind === 'form', allowReserved: allowReserved ?? false }
}

const NOTHING: JsonRecord = {}
const FORM = 'application/x-www-form-urlencoded'

function wordsOf(encoding: Readonly<Record<string, unknown>>): string {
  const reported = Object.entries(encoding).filter(([, value]) => value !== undefined)
  return reported.length === 0 ? 'the default' : reported.map(([name, value]) => `${name} ${String(value)}`).join(', ')
}

interface FieldPair {
  readonly base: MediaType
  readonly head: MediaType
  readonly field: string
}

/** The header fields of one part of a multipart body (OpenAPI 3.1.0 §4.8.15), written by the author of the body. */
class PartHeaders {
  readonly #walk: Walk
  readonly #pair: FieldPair
  readonly #place: PayloadPlace
  readonly #operation: OperationName
  readonly #tell: ReportPart

  constructor(walk: Walk, pair: FieldPair, place: PayloadPlace, operation: OperationName, reportPart: ReportPart) {
    this.#walk = walk
    this.#pair = pair
    this.#place = place
    this.#operation = operation
    this.#tell = reportPart
  }

  compare(): void {
    const { base, head, field } = this.#pair
    if (!head.name.toLowerCase().startsWith('multipart/') && !head.name.includes('*')) return
    const [before, after] = [headersIn(base, field, this.#walk, 'base'), headersIn(head, field, this.#walk, 'head')]
    const { added, removed, kept } = matchByKey(before, after, ({ name }) => name.toLowerCase())
    const isRequest = this.#place.direction === 'request'
    // The reader of a part ignores unknown header fields and requires its required ones.
    for (const { name, isRequired } of isRequest ? added : removed) {
      if (isRequest && !isRequired) continue
      const [without, within] = [`no header ${name}`, `the header ${name}`]
      this.#tell(isRequest ? without : within, isRequest ? within : without)
    }
    for (const [before, after] of kept) this.#header(before, after)
  }

  #header(before: Header, after: Header): void {
    const { name } = after
    if (before.isRequired !== after.isRequired && after.isRequired === (this.#place.direction === 'request')) {
      const words = (isRequired: boolean): string => `the ${isRequired ? 'required' : 'optional'} header ${name}`
      this.#tell(words(before.isRequired), words(after.isRequired))
    }
    const walk = this.#walk
    const writing = writingChange(walk, { ...before, place: 'header' }, { ...after, place: 'header' })
    if (writing !== null) {
      this.#tell(`the header ${name} in ${writing.before}`, `the header ${name} in ${writing.after}`)
      if (writing.isOtherKind) return
    }
    if (before.schema === null && after.schema === null) return
    const use = {
      sites: this.#place.sites,
      mediaType: contentOf(walk.head, after.located)[0]?.name ?? 'text/plain',
      operation: this.#operation,
      where: `${this.#place.where}, field ${this.#pair.field}, header ${name}`,
      parameter: null,
    }
    walk.use(use, before.schema ?? anySchema(before.located), after.schema ?? anySchema(after.located))
  }
}

/** `Content-Type` has a member of its own and is ignored here (OpenAPI 3.1.0 §4.8.15.1). */
function headersIn(media: MediaType, field: string, { base, head }: Walk, side: 'base' | 'head'): readonly Header[] {
  const stated = encodingAt(media.located, field)
  if (stated === null) return []
  return headersOf(side === 'base' ? base : head, stated).filter(({ name }) => name.toLowerCase() !== 'content-type')
}

/** By field, or by position (OpenAPI 3.2). */
function encodingAt(media: Located, field: string): Located | null {
  const fields = memberOf(media, 'encoding')
  const stated = fields === null ? null : memberOf(fields, field)
  if (stated !== null) return stated
  if (field === EACH_ITEM) return memberOf(media, 'itemEncoding')
  return itemsAt(media, 'prefixEncoding')[Number(field.slice(1)) - 1] ?? null
}
