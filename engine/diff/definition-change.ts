/** What a changed schema means, in a language other than JSON Schema, for those who read what is sent. */

export type DefinitionChange =
  /** Nothing that has an effect differs. */
  | { readonly meaning: 'same' }
  /** What is sent can be read as before. */
  | { readonly meaning: 'compatible'; readonly detail: string }
  /** What is sent may be read otherwise, or the languages cannot be compared. */
  | { readonly meaning: 'changed' }
  /** Readers refuse or misread what is sent. `detail` names the first such place. */
  | { readonly meaning: 'refused'; readonly detail: string }

export const DEFINITION_SAME: DefinitionChange = { meaning: 'same' }
export const DEFINITION_CHANGED: DefinitionChange = { meaning: 'changed' }
