/** Receipts that an object carries in its annotations (docs/reference/receipts.md#transport), in whole objects and in the patches that add them. */
import { recordIn } from '../../json/unchecked-json.ts'
import type { PresentedReceipt } from '../common/action.ts'
import { presentedReceipts } from '../common/presented-receipt.ts'
import { isJsonObject, type JsonObject } from '../../json/strict-json.ts'
import { pointerToken } from '../../../engine/base.ts'

export const RECEIPT_ANNOTATION = 'preflight.dev/receipt'
export const ENVELOPE_ANNOTATION = 'preflight.dev/envelope'

/** @param metadata of an object, or of a merge patch for one */
export function receiptsIn(metadata: JsonObject): readonly PresentedReceipt[] {
  const annotations = recordIn(metadata['annotations'])
  return presented(annotations[RECEIPT_ANNOTATION], annotations[ENVELOPE_ANNOTATION])
}

/** @param operations of a JSON patch (RFC 6902); `~1` is the slash of an annotation's name (RFC 6901) */
export function receiptsInPatch(operations: readonly unknown[]): readonly PresentedReceipt[] {
  let annotations: JsonObject = {}
  for (const operation of operations) {
    if (!isJsonObject(operation) || (operation['op'] !== 'add' && operation['op'] !== 'replace')) continue
    const { path, value } = operation
    if (path === '/metadata/annotations' && isJsonObject(value)) annotations = value
    else if (path === `/metadata/annotations/${pointerToken(RECEIPT_ANNOTATION)}`)
      annotations = { ...annotations, [RECEIPT_ANNOTATION]: value }
    else if (path === `/metadata/annotations/${pointerToken(ENVELOPE_ANNOTATION)}`)
      annotations = { ...annotations, [ENVELOPE_ANNOTATION]: value }
  }
  return receiptsIn({ annotations })
}

/** More than one (for what is done to the object now, and later) are separated by commas or blanks; an envelope belongs to a single one. */
function presented(text: unknown, envelope: unknown): readonly PresentedReceipt[] {
  const tokens = typeof text === 'string' ? text.split(/[\s,]+/).filter((token) => token !== '') : []
  return presentedReceipts(tokens, envelope)
}
