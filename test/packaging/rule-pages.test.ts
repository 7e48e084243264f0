/** The pages about rules: every rule is in the index, and on the page of its area with the example that the tests run. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { rulesPages } from '../../docs/rules-page.ts'
import { ruleExamples } from '../../docs/rule-examples.ts'
import { ruleTable } from '../../engine/rules/catalog/table.ts'

const ROOT = join(import.meta.dirname, '../..')
const [index, ...areas] = rulesPages()

test('every rule is in the index and on one page, with its level', () => {
  const pages = areas.map(({ content }) => content).join('\n')
  for (const { id, level } of ruleTable()) {
    assert.ok(index?.content.includes(`\`${id}\``), id)
    assert.equal(pages.split(`\n| \`${id}\` | ${level} |`).length, 2, id)
  }
})

test('every page that the index names is made', () => {
  const named = [...(index?.content.matchAll(/\]\((rules\/[^)]+)\)/g) ?? [])].map(([, path]) => `docs/${path}`)
  assert.deepEqual(
    named,
    areas.map(({ path }) => path),
  )
})

test('an example shows what is different, and leads to the file of its case', () => {
  const examples = ruleExamples()
  assert.ok(examples.size > 2000)
  for (const [rule, { before, after, file }] of examples) {
    assert.notEqual(before, after, rule)
    if (file !== null) assert.ok(readFileSync(join(ROOT, file), 'utf8').includes(`rule: ${rule}\n`), rule)
  }
})

/**
 * Bounds that are always there are moved, never set. What of tools and bare schemas is not told is pinned with its family. The
 * schema of a custom resource is an object always; its properties, like those of messages, are judged by the same families.
 */
const WITHOUT_EXAMPLE = [
  /-min-items-(?:set|unset)$/,
  /^tool-.*-(?:type-compatible|deprecated-sunset-missing|sunset-date-too-small)$/,
  /^(?:schema|crd)-property-deprecated$/,
  /^crd-schema-/,
  /(?:^|-)(?:received|sent)-/,
]

test('every rule that can be reported has an example', () => {
  const examples = ruleExamples()
  const bare = ruleTable().filter(({ id }) => !examples.has(id) && !WITHOUT_EXAMPLE.some((form) => form.test(id)))
  assert.deepEqual(
    bare.map(({ id }) => id),
    [],
  )
})
