/** How the demo speaks: numbered steps, indented facts, and expectations that end it when they do not hold. */

const PAINT: Readonly<Record<'bold' | 'dim' | 'green' | 'red', string>> = {
  bold: '1',
  dim: '2',
  green: '32',
  red: '31',
}
const isColoured = process.stdout.isTTY && !process.env['NO_COLOR']

export function paint(style: keyof typeof PAINT, text: string): string {
  return isColoured ? `\u001B[${PAINT[style]}m${text}\u001B[0m` : text
}

const LABEL_WIDTH = 23

/** What lines after the first of a fact begin with. */
export const MARGIN = ' '.repeat(LABEL_WIDTH + 4)

export interface Narration {
  step(title: string): void
  fact(label: string, text: string): void
  /** Prints a claim that holds, or throws. The demo exits with 1 unless every claim holds. */
  expect(holds: boolean, claim: string): void
}

export function createNarration(write: (text: string) => void): Narration {
  let steps = 0
  return {
    step: (title) => {
      steps += 1
      write(`\n${paint('bold', `${steps}. ${title}`)}\n`)
    },
    fact: (label, text) => write(`   ${paint('dim', label.padEnd(LABEL_WIDTH))} ${text}\n`),
    expect: (holds, claim) => {
      write(`   ${holds ? paint('green', '✓') : paint('red', '✗')} ${claim}\n`)
      if (!holds) throw new Error(`This did not happen: ${claim}`)
    },
  }
}
