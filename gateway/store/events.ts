/** What a store reports about its own work, for metrics and logs. */
export interface StoreEvents {
  /** Called after every call. @param seconds until the answer */
  readonly onCall?: (operation: string, seconds: number, isGood: boolean) => void
  /** False after a call that the store could not carry out, with its cause; true after a write that is durable. */
  readonly onWritable?: (isWritable: boolean, cause?: unknown) => void
  /** Something was lost or failed outside a call. */
  readonly onFault?: (error: Error) => void
}
