/**
 * Regular expressions written by callers and by contracts, run in time linear in the text (RE2): `(a+)+$` must not hold a thread.
 * The language is that of JSON Schema and the API, ECMA-262 with the flag `u`, less what no linear engine has (look-around,
 * references to groups).
 */
import { RE2JS } from 're2js'
import { fail, ok, type Result } from './result.ts'

export interface LinearPattern {
  /** True when some part of the text matches. */
  test(text: string): boolean
}

/** Longest pattern of a caller, UTF-16 code units. */
export const MAX_CALLER_PATTERN = 512
const MAX_PATTERN = 8192
/** Steps of the compiled program; time is bounded by them times the length of the text. */
const MAX_PROGRAM = 10_000

/** @param maxLength in UTF-16 code units */
export function compileLinearPattern(source: string, maxLength = MAX_PATTERN): Result<LinearPattern> {
  if (source.length > maxLength) return unusablePattern(`it has ${source.length} characters, more than ${maxLength}`)
  try {
    // Its syntax is compared with ECMA-262 first; making the expression does not run it.
    void new RegExp(source, 'u')
    const program = RE2JS.compile(RE2JS.translateRegExp(linearForm(source)))
    const size = program.programSize()
    if (size > MAX_PROGRAM)
      return unusablePattern(`it takes ${size} steps, more than ${MAX_PROGRAM}; use smaller repetitions`)
    return ok({ test: (text) => program.matcher(text).find() })
  } catch (error) {
    return unusablePattern(patternFault(error))
  }
}

function unusablePattern(why: string): Result<never> {
  return fail({ code: 'INVALID_INPUT', message: `The regular expression cannot be used: ${why}.` })
}

function patternFault(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return /`\(\?<?[=!]/.test(message) ? UNSUPPORTED : message.replace(/\.$/, '')
}

const UNSUPPORTED = 'look-around and references to groups are not supported'

/** `\s` and `.` mean other letters in RE2 than in ECMA-262 §22.2.2. */
const WHITE_SPACE = String.raw`\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
const LINE_ENDS = String.raw`\n\r\x{2028}\x{2029}`

/** The same pattern with the letters of ECMA-262 in the places where RE2 has others. */
function linearForm(source: string): string {
  let form = ''
  let isInClass = false
  for (let index = 0; index < source.length; index += 1) {
    const letter = source[index] ?? ''
    const escaped = letter === '\\' ? (source[index + 1] ?? '') : null
    if (escaped !== null) index += 1
    if (escaped === 's') form += isInClass ? WHITE_SPACE : `[${WHITE_SPACE}]`
    else if (escaped === 'S' && !isInClass) form += `[^${WHITE_SPACE}]`
    else if (escaped === 'S') throw new SyntaxError('`\\S` within brackets is not supported')
    else if (escaped === 'b' && isInClass) form += String.raw`\x08`
    else if (escaped !== null && /[1-9k]/.test(escaped)) throw new SyntaxError(UNSUPPORTED)
    else if (escaped !== null) form += `\\${escaped}`
    else if (letter === '.' && !isInClass) form += `[^${LINE_ENDS}]`
    else {
      if (letter === '[') isInClass = true
      if (letter === ']') isInClass = false
      form += letter
    }
  }
  return form
}
