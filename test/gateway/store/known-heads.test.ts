/** The heads of chains that a gateway has seen in its database, against answers of the database that cross each other. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { Client } from 'pg'
import { knownHeads } from '../../../gateway/store/postgres/known-heads.ts'

const head = (sequence: number) => ({ chain: 'chn_a', sequence, hash: `hash ${sequence}` })

/** A connection that is not open: its answers are given. */
function answering(answer: (text: string, values: readonly string[]) => Promise<object>): Client {
  const client = new Client()
  mock.method(client, 'query', answer)
  return client
}

const noting = (sequence: number) => answering(() => Promise.resolve({ rows: [head(sequence)] }))

/** A database whose newest entry is this one, that does something else before it answers. */
const holding = (newest: number, meanwhile: () => Promise<void> = () => Promise.resolve()) =>
  answering(async (_, [known = '[]']) => {
    const asked: readonly { readonly chain: string; readonly sequence: number }[] = JSON.parse(known)
    await meanwhile()
    const rows = asked.map(({ chain, sequence }) => {
      const hash = sequence <= newest ? head(sequence).hash : null
      return { chain, newest, hash, cut: 0 }
    })
    return { rows }
  })

test('entries that are seen while a connection is checked do not make its database an older copy', async () => {
  const heads = knownHeads()
  await heads.note(noting(8))
  await heads.require(holding(8, () => heads.note(noting(9))))
})

test('a database without an entry that was seen is an older copy', async () => {
  const heads = knownHeads()
  await heads.note(noting(9))
  await assert.rejects(heads.require(holding(8)), /does not contain entry 9 of the chain chn_a/)
})
