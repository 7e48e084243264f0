/** A call that waits for an approval, for whoever shows it to people elsewhere. */
import type { Envelope } from '../../engine/internal.ts'
import type { Subject } from '../calls/subject.ts'

interface HeldCall {
  readonly tenant: string
  readonly subject: Pick<Subject, 'operation' | 'place'>
  readonly envelope: Pick<Envelope, 'derivation'>
  readonly approvalId: string
}

/** Gets every call that waits; the same request for approval may come again. Never rejects. */
export type NoteHeldCall = (held: HeldCall) => Promise<void>
