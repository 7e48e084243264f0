/** The decision result envelope (interface.md, Resources). */
export interface Envelope {
  readonly decision_id: string
}
