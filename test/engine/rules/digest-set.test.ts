/** Sets of digests and counts of names hold what sets of texts hold, in less. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DigestSet } from '../../../engine/rules/findings/digest-set.ts'
import { NameCount } from '../../../engine/rules/findings/name-count.ts'
import { sha256 } from '../../fakes/keys.ts'

suite('a set of digests', () => {
  test('takes each digest once, however many there are and in whatever order', () => {
    const digests = new DigestSet()
    const known = new Set<string>()
    // Steps of one prime meet every number below another, and the first of them again.
    for (let step = 0; step < 30_000; step++) {
      const digest = sha256(String((step * 7919) % 20_011))
      assert.equal(digests.add(digest), !known.has(digest))
      known.add(digest)
      assert.equal(digests.size, known.size)
    }
    assert.equal(known.size, 20_011)
  })

  test('tells digests apart that share a slot, and holds the one that is all zero', () => {
    const digests = new DigestSet()
    const alike = ['00', '01', '10', 'ff'].map((end) => `${'0'.repeat(30)}${end}${'0'.repeat(32)}`)
    for (const digest of alike) assert.ok(digests.add(digest), digest)
    for (const digest of alike) assert.ok(!digests.add(digest), digest)
  })

  test('is empty after it was cleared', () => {
    const digests = new DigestSet()
    digests.add(sha256('a'))
    digests.clear()
    assert.equal(digests.size, 0)
    assert.ok(digests.add(sha256('a')))
  })
})

suite('a count of names', () => {
  test('is exact below and beyond what is held as text', () => {
    const names = new NameCount(sha256)
    for (const repeat of [0, 1]) {
      for (let index = 0; index < 30_000; index++) {
        names.add(`field ${index}`)
        if (repeat === 0) assert.equal(names.size, index + 1)
      }
    }
    assert.equal(names.size, 30_000)
    names.clear()
    names.add('field 1')
    assert.equal(names.size, 1)
  })
})
