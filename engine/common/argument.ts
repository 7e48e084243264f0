/**
 * Arguments of public functions, for programs in JavaScript: the types state their form for TypeScript. A wrong one is an error that
 * names the function, the member, what is expected and what was given.
 */

interface ArgumentForm {
  readonly wanted: string
  readonly fits: (value: unknown) => boolean
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

export const OBJECT: ArgumentForm = {
  wanted: 'an object',
  fits: (value) => isObject(value) && !Array.isArray(value),
}
export const LIST: ArgumentForm = { wanted: 'a list', fits: (value) => Array.isArray(value) }
/** Each entry is an object. */
export const OBJECTS: ArgumentForm = {
  wanted: 'a list of objects',
  fits: (value) => Array.isArray(value) && value.every((entry) => OBJECT.fits(entry)),
}
export const TEXT: ArgumentForm = { wanted: 'text', fits: (value) => typeof value === 'string' }
export const NUMBER: ArgumentForm = { wanted: 'a number', fits: (value) => Number.isFinite(value) }
export const FUNCTION: ArgumentForm = { wanted: 'a function', fits: (value) => typeof value === 'function' }

/** @throws TypeError for a value of another form. `name` is as callers write it: `input.analyses`. */
export function requireArgument(caller: string, name: string, value: unknown, { wanted, fits }: ArgumentForm): void {
  if (!fits(value)) throw new TypeError(`${caller}: ${name} must be ${wanted}, and is ${givenForm(value)}.`)
}

/** @throws TypeError for a member of another form. */
export function requireMembers(
  caller: string,
  name: string,
  value: object,
  forms: Readonly<Record<string, ArgumentForm>>,
): void {
  for (const [member, form] of Object.entries(forms))
    requireArgument(caller, `${name}.${member}`, Reflect.get(value, member), form)
}

function givenForm(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'an object'
  return typeof value === 'string' ? 'text' : `a ${typeof value}`
}
