/** The parts of a custom resource definition, in either API version. */
import {
  FLAG,
  list,
  malformedParts,
  needed,
  NUMBER,
  one,
  partTable,
  TEXT,
  TEXTS,
  type MalformedPart,
} from '../malformed-parts.ts'
import type { Crd, CrdVersion } from './contract.ts'

/** Parts that v1beta1 states once for all versions. */
const OF_VERSIONS = {
  subresources: one('subresources'),
  additionalPrinterColumns: list('column'),
  selectableFields: list('field'),
} as const

const PARTS = partTable({
  definition: { spec: one('spec') },
  // Versions are parts of their own: their order has no meaning.
  spec: {
    group: needed(TEXT),
    scope: needed(TEXT),
    version: TEXT,
    names: needed(one('names')),
    conversion: one('conversion'),
    preserveUnknownFields: FLAG,
    validation: one('validation'),
    ...OF_VERSIONS,
  },
  names: {
    kind: needed(TEXT),
    plural: needed(TEXT),
    singular: TEXT,
    listKind: TEXT,
    shortNames: TEXTS,
    categories: TEXTS,
  },
  // The webhook is compared by value.
  conversion: { strategy: TEXT },
  version: { served: needed(FLAG), storage: needed(FLAG), deprecated: FLAG, schema: one('validation'), ...OF_VERSIONS },
  validation: { openAPIV3Schema: one('schema') },
  subresources: { status: one('other'), scale: one('other') },
  column: { name: TEXT, type: TEXT, format: TEXT, jsonPath: TEXT, JSONPath: TEXT, priority: NUMBER },
  field: { jsonPath: TEXT },
  rule: { rule: needed(TEXT), reason: TEXT, fieldPath: TEXT, optionalOldSelf: FLAG },
  other: {},
  schema: {
    // The API server refuses the other forms of these keywords.
    type: TEXT,
    items: one('schema'),
    exclusiveMaximum: FLAG,
    exclusiveMinimum: FLAG,
    'x-kubernetes-preserve-unknown-fields': FLAG,
    'x-kubernetes-embedded-resource': FLAG,
    'x-kubernetes-int-or-string': FLAG,
    'x-kubernetes-list-type': TEXT,
    'x-kubernetes-list-map-keys': TEXTS,
    'x-kubernetes-map-type': TEXT,
    'x-kubernetes-validations': list('rule'),
  },
})

export function malformedCrdParts(
  { located }: Crd | CrdVersion,
  kind: 'definition' | 'version',
): ReadonlyMap<string, MalformedPart> {
  return malformedParts(PARTS, { located, kind, resolve: () => null })
}
