/** docs/reference/api.md and mcp.md against the route table: every endpoint, member, query parameter and error is on the page. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { TOOLS } from '../../gateway/api/mcp/tools.ts'
import { ROUTES } from '../../gateway/api/serving/routes.ts'
import type { ApiRoute } from '../../gateway/api/route.ts'
import { SERVED_SCHEMA_NAMES } from '../../gateway/api/routes/documents.ts'
import { CONFIG_LEAVES } from '../../gateway/config/leaves.ts'
import { ERRORS } from '../../gateway/errors/errors.ts'
import { plainSchema } from '../../gateway/settings/input-schema.ts'
import { namesIn, namesOf, pageText, rowsIn, sectionOf } from './page.ts'

/** What the test reads of a JSON Schema. */
interface Form {
  readonly properties?: Readonly<Record<string, Form>>
  readonly anyOf?: readonly Form[]
  readonly enum?: readonly unknown[]
}

const headingOf = ({ method, paths }: ApiRoute): string => `${method} ${paths[0]}`
const anchorOf = (route: ApiRoute): string =>
  headingOf(route)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_ -]/g, '')
    .replaceAll(' ', '-')

const formOf = (schema: object): Form => JSON.parse(JSON.stringify(schema))

/** Names of the members of an object, or of every alternative of a union. */
function membersOf({ properties = {}, anyOf = [] }: Form): readonly string[] {
  return [...Object.keys(properties), ...anyOf.flatMap(membersOf)]
}

/** What a caller has to know of one endpoint. */
function namesFor(route: ApiRoute): readonly string[] {
  const body = route.body === undefined ? {} : formOf(plainSchema(route.body))
  const query = route.query === undefined ? {} : formOf(plainSchema(route.query))
  const answers = Object.values(route.answers).flatMap(({ content }) => Object.values(content))
  const { properties = {}, anyOf: _union, ...own } = body
  return [
    ...membersOf({ ...own, properties }),
    ...Object.values(properties).flatMap((form) => (form.enum ?? []).map(String)),
    ...Object.values(properties).flatMap((form) => membersOf(form)),
    ...membersOf(query),
    ...answers.flatMap((schema) => membersOf(formOf(plainSchema(schema)))),
    ...(route.errors ?? []),
    ...route.paths.slice(1),
    ...Object.values(route.answers)
      .flatMap(({ content }) => Object.keys(content))
      .filter((type) => type !== 'application/json'),
    ...(route.consumes ?? []),
  ]
}

suite('api.md', () => {
  test('has a section for every endpoint, and for no other', () => {
    const headings = [...pageText('api.md').matchAll(/^### (.+)$/gm)].map(([, heading]) => heading)
    assert.deepEqual(new Set(headings), new Set(ROUTES.map(headingOf)))
  })
  for (const route of ROUTES) {
    const read = (): string => sectionOf('api.md', anchorOf(route))
    test(`names what ${headingOf(route)} takes and answers`, () => {
      const section = read()
      const named = new Set([...namesIn(section)].flatMap((name) => [name, ...name.split(/[^\w.+/-]+/)]))
      assert.deepEqual(
        namesFor(route).filter((name) => !named.has(name)),
        [],
        `docs/reference/api.md, ${headingOf(route)}, names every member and every value with a name`,
      )
    })
    test(`says who may ask ${headingOf(route)}, and whether it counts`, () => {
      const section = read()
      assert.match(section, new RegExp(`^(?:.* )?Access: ${route.access}\\b`, 'm'))
      assert.equal(/Access: (?:key|ask|read), counted/.test(section), route.counted === true)
      assert.equal(/body may be absent/.test(section), route.bodyOptional === true)
      const [status = ''] = Object.keys(route.answers)
      if (status !== '200') assert.match(section, new RegExp(`Answer ${status}`))
    })
  }
  test('names every published schema', () => {
    const named = namesIn(sectionOf('api.md', 'get-schemasnamejson'))
    assert.deepEqual(
      SERVED_SCHEMA_NAMES.filter((name) => !named.has(name)),
      [],
    )
  })
  test('names settings that exist, with their defaults', () => {
    const defaults = new Map(CONFIG_LEAVES.map((leaf) => [leaf.path, leaf.default]))
    const expected: Readonly<Record<string, unknown>> = {
      'limits.request_body': 64 * 1024 * 1024,
      'limits.artifacts': 50,
      'limits.artifact_side': 32 * 1024 * 1024,
      'limits.depth': 128,
      'limits.aliases': 1000,
      'limits.expansion': 20,
      'limits.analysis': 60,
    }
    const settings = rowsIn(sectionOf('api.md', 'limits-and-rate-headers')).flatMap(([, , cell]) => namesOf(cell))
    assert.deepEqual(settings.toSorted(), Object.keys(expected).toSorted())
    for (const [path, value] of Object.entries(expected)) assert.equal(defaults.get(path), value, path)
  })
  test('names codes that exist', () => {
    const codes = [...namesIn(pageText('api.md'))].filter((name) => /^[A-Z]+_[A-Z_]+$/.test(name))
    const others = ['NO_BREAK_DETECTED', 'BREAKS_DETECTED', 'ANALYSIS_FAILED', 'APPROVED_EXCEPTION', 'REQUIRE_APPROVAL']
    assert.deepEqual(
      codes.filter((code) => !Object.hasOwn(ERRORS, code) && !others.includes(code)),
      [],
    )
  })
})

suite('mcp.md', () => {
  test('names every tool with its endpoint', () => {
    assert.deepEqual(
      rowsIn(sectionOf('mcp.md', 'tools')).map(([tool, endpoint, isRead]) => [
        ...namesOf(tool),
        ...namesOf(endpoint),
        isRead === 'yes',
      ]),
      TOOLS.map(({ definition, route }) => [definition.name, headingOf(route), definition.annotations.readOnlyHint]),
    )
  })
})
