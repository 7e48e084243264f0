/** What looks into contract texts, on this thread and within the engine's own limits. */
import { DEFAULT_DOCUMENT_LIMITS, ok, sniffArtifactType } from '../../engine/internal.ts'
import { bundledText } from '../../gateway/documents/bundle.ts'
import type { ContractTexts } from '../../gateway/scm/selector.ts'
import { fileReferences } from '../../gateway/documents/file-references.ts'

export const INLINE_TEXTS: ContractTexts = {
  sniff: (before, after) => Promise.resolve(sniffArtifactType(before, after)),
  fileReferences: (text) => Promise.resolve(ok(fileReferences(text, DEFAULT_DOCUMENT_LIMITS))),
  bundle: (root, texts, site) => Promise.resolve(bundledText(root, texts, DEFAULT_DOCUMENT_LIMITS, site)),
}
