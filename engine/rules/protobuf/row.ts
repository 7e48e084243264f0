/** A row about one kind of change of a protobuf contract, and the texts that rows share. */
import type { RuleRow } from '../row.ts'

/** Wire and JSON breakage is breaking. A change that only regenerated code notices is dangerous. */
export interface ProtoRow extends RuleRow {
  readonly area: `protobuf ${'files' | 'declarations' | 'messages' | 'fields' | 'enums' | 'rpcs'}`
  /** The rules of buf (`buf breaking`) that report the same change, in all its categories. */
  readonly buf: readonly string[]
}

export type ProtoRows = Readonly<Record<`proto-${string}`, ProtoRow>>

export const NOTHING_TO_DO = 'Nothing needs to be done.'
export const STILL_WORKS = 'What is written and read by the old contract goes on working.'
export const WIRE = 'Bytes that one side writes are refused or read as something else by the other.'
export const JSON_FORM = 'The bytes are the same, but JSON that one side writes is refused or misread by the other.'
export const SOURCE =
  'The wire is the same; code that was written against generated code no longer compiles or behaves as before.'
