/**
 * Whether a changed text instructs a model differently. It compares words, not meaning, and errs towards “changed”. A
 * rewording touches few words, and none that command, forbid, count or act.
 */

type WordingChange =
  | { readonly kind: 'same' }
  | {
      readonly kind: 'reworded' | 'changed'
      /** The removed and added text, in context. */ readonly difference: string
    }

/** Words without effect on the meaning of a sentence. */
const SILENT_WORDS = words(
  'a an the of to in on at for with and is are be been was were this that these those it its by from as which will has ' +
    'have your you we our their into e g i eg ie etc also here there given using use used via please note provided specified',
)

/** Words that change an instruction whenever they are added or removed. */
const INSTRUCTING_WORDS = words(
  'not no never always must only without unless except instead before after first then any all every should shall may can ' +
    'cannot dont ignore override require mandatory optional confirm confirmation ask user human approval permission ' +
    'delete remove erase wipe purge drop destroy kill reset clear truncate overwrite rewrite write modify change alter edit ' +
    'update create insert replace move rename execute run eval evaluate launch stop terminate install uninstall deploy send ' +
    'email post publish upload download forward share transfer transmit expose leak submit merge commit invite pay buy ' +
    'purchase sell refund withdraw deposit cancel approve reject deny authorize grant revoke enable disable lock unlock ' +
    'none neither nor nothing nobody nowhere hardly barely scarcely rarely almost forbid forbidden ban banned prohibit refuse ' +
    'exclude safe unsafe hidden zero two three four five six seven eight nine ten dozen hundred thousand million twice half ' +
    'block unblock encrypt decrypt invoke bypass skip trust disclose reveal impersonate admin sudo root ' +
    'secret password token credential key keys private internal external http https url prefer recommended deprecated avoid',
)

/** Such words in other languages, as far as ASCII can write them. */
const INSTRUCTING_ABROAD = words(
  'nicht nie niemals kein keine nur immer ohne muss vor nunca jamas siempre sin solo sempre debe antes mai senza prima deve ' +
    'jamais toujours sans seulement doit avant pas ne non nao sem',
)

/** A word with letters outside ASCII is not in these lists and may have any meaning. */
const UNKNOWN_WORD = /[^\p{ASCII}]/u

/** Maximum words that a rewording touches, and their maximum share of the text. */
const FEW_WORDS = 4
const SMALL_SHARE = 0.25

/** Maximum length of a new text that counts as plain documentation. */
const SHORT_TEXT = 40

/** Longer texts (product of lengths) are not aligned word by word. */
const ALIGNMENT_BUDGET = 4_000_000

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}

/** Compares two texts. Empty text means that there is none. */
export function compareWording(before: string, after: string): WordingChange {
  if (before === after) return { kind: 'same' }
  const base = split(before)
  const head = split(after)
  const steps = alignWords(base, head)
  const touched = steps.filter(({ sign }) => sign !== ' ').map(({ word }) => folded(word))
  return { kind: isRewording(touched, base, head) ? 'reworded' : 'changed', difference: render(steps) }
}

function isRewording(touched: readonly string[], base: readonly string[], head: readonly string[]): boolean {
  if (touched.some(isInstructing) || isNegated(new Set(touched))) return false
  const content = touched.filter((word) => !SILENT_WORDS.has(word) && !SILENT_WORDS.has(stem(word))).length
  if (base.length === 0) return head.length <= SHORT_TEXT
  if (head.length === 0) return false
  return content === 0 || (content <= FEW_WORDS && content <= SMALL_SHARE * Math.max(base.length, head.length))
}

/** “signed” and “unsigned” are different words, not two forms of one. */
const NEGATING = ['un', 'non', 'dis', 'in', 'im', 'ir', 'il']

function isNegated(touched: ReadonlySet<string>): boolean {
  return [...touched].some((word) => NEGATING.some((prefix) => touched.has(prefix + word)))
}

function isInstructing(word: string): boolean {
  if (INSTRUCTING_ABROAD.has(word) || UNKNOWN_WORD.test(word) || /[\d_/.]/.test(word)) return true
  return baseForms(word).some((form) => INSTRUCTING_WORDS.has(form))
}

const ENDINGS = ['s', 'es', 'd', 'ed', 'ing', 'ings', 'al', 'als', 'ion', 'ions']

/** The word, and what it may be a form of: “deletes” and “deletion” of “delete”, “modified” of “modify”. */
function baseForms(word: string): readonly string[] {
  const roots = ENDINGS.filter((ending) => word.endsWith(ending)).map((ending) => word.slice(0, -ending.length))
  return [word, word.replace(/(?:ies|ied)$/, 'y'), ...roots.flatMap((root) => [root, `${root}e`, withoutDouble(root)])]
}

/** “running” is a form of “run”. */
function withoutDouble(root: string): string {
  return root.replace(/(.)\1$/, '$1')
}

/** Words and identifiers, with the punctuation that touches them. Punctuation and spacing have no effect here. */
function split(text: string): readonly string[] {
  const pattern =
    /[^\s\p{L}\p{N}_]*(?:[\p{L}\p{N}_][\p{L}\p{N}\p{M}_'’./:-]*[\p{L}\p{N}_]|[\p{L}\p{N}_])[^\s\p{L}\p{N}_]*/gu
  return text.normalize('NFKC').match(pattern) ?? []
}

const PUNCTUATION = /^[^\p{L}\p{N}_]+|[^\p{L}\p{N}_]+$/gu

/** The word without punctuation, case and apostrophes. */
function folded(word: string): string {
  return word.replaceAll(PUNCTUATION, '').toLowerCase().replaceAll(/['’]/g, '')
}

/** The word without the commonest endings too, so that “returns” and “return” are one. */
function stem(word: string): string {
  const plain = folded(word)
  return plain.length > 4 ? plain.replace(/(?:ing|ed|es|s)$/, '') : plain
}

interface EditStep {
  readonly sign: ' ' | '-' | '+'
  readonly word: string
}

/** The words of both texts in order, marked as kept, removed or added (longest common subsequence). */
function alignWords(base: readonly string[], head: readonly string[]): readonly EditStep[] {
  const a = base.map(stem)
  const b = head.map(stem)
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const middle =
    (a.length - start - end) * (b.length - start - end) > ALIGNMENT_BUDGET
      ? [...marked('-', base.slice(start, base.length - end)), ...marked('+', head.slice(start, head.length - end))]
      : alignMiddle({ a, b, base, head, start, end })
  return [...marked(' ', head.slice(0, start)), ...middle, ...marked(' ', head.slice(head.length - end))]
}

interface Middle {
  readonly a: readonly string[]
  readonly b: readonly string[]
  readonly base: readonly string[]
  readonly head: readonly string[]
  readonly start: number
  readonly end: number
}

function alignMiddle({ a, b, base: before, head: after, start, end }: Middle): readonly EditStep[] {
  const rows = a.length - start - end
  const columns = b.length - start - end
  const width = columns + 1
  const common = new Uint16Array((rows + 1) * width)
  const at = (row: number, column: number): number => common[row * width + column] ?? 0
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      common[row * width + column] =
        a[start + row] === b[start + column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const steps: EditStep[] = []
  let row = 0
  let column = 0
  while (row < rows || column < columns) {
    if (row < rows && column < columns && a[start + row] === b[start + column]) {
      steps.push({ sign: ' ', word: after[start + column] ?? '' })
      row++
      column++
    } else if (column >= columns || (row < rows && at(row + 1, column) >= at(row, column + 1))) {
      steps.push({ sign: '-', word: before[start + row++] ?? '' })
    } else steps.push({ sign: '+', word: after[start + column++] ?? '' })
  }
  return steps
}

function marked(sign: EditStep['sign'], list: readonly string[]): readonly EditStep[] {
  return list.map((word) => ({ sign, word }))
}

const CONTEXT = 3
const LONGEST_DIFFERENCE = 240

/** `… reads [-one file-] {+any file+} of …`, the usual form of word differences. */
function render(steps: readonly EditStep[]): string {
  const parts: string[] = []
  for (let index = 0; index < steps.length; index++) {
    const { sign, word } = steps[index] ?? { sign: ' ', word: '' }
    if (sign === ' ') {
      if (isNearChange(steps, index)) parts.push(word)
      else if (parts.at(-1) !== '…') parts.push('…')
      continue
    }
    const run = [word]
    while (steps[index + 1]?.sign === sign) run.push(steps[++index]?.word ?? '')
    parts.push(sign === '-' ? `[-${run.join(' ')}-]` : `{+${run.join(' ')}+}`)
  }
  const text = parts.join(' ')
  if (text === '' || text === '…') return 'in case, spacing or punctuation only'
  return text.length <= LONGEST_DIFFERENCE ? text : `${text.slice(0, LONGEST_DIFFERENCE).toWellFormed()}…`
}

function isNearChange(steps: readonly EditStep[], index: number): boolean {
  for (let near = index - CONTEXT; near <= index + CONTEXT; near++) {
    const step = steps[near]
    if (step !== undefined && step.sign !== ' ') return true
  }
  return false
}
