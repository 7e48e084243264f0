/** Lines of a wrapper as the next reader gets them: whatever a message holds, its line is within what that one takes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_MESSAGE } from '../../../gateway/stdio/frames.ts'
import { asOneLine, LineReader, LONGEST_WRITTEN_LINE } from '../../../gateway/stdio/lines.ts'

for (const character of ['a', '\u0085', '\u2028', '\u2029', '\u{1f600}'])
  test(`a message of U+${character.codePointAt(0)?.toString(16).padStart(4, '0')} is a line that is read`, () => {
    const size = 600
    const message = Buffer.from(character.repeat(size / Buffer.byteLength(character)))
    const line = asOneLine(message)
    const read: Buffer[] = []
    const reader = new LineReader((LONGEST_WRITTEN_LINE / MAX_MESSAGE) * size, (one) => void read.push(one))
    reader.push(Buffer.concat([line, Buffer.from('\n')]))
    assert.deepEqual(read, [line])
  })
