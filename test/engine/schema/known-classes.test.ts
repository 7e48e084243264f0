/** The known classes of changes in the schemas of an OpenAPI contract, of each direction alone and of both together. */
import { checkElements, type ElementRow } from '../elements.ts'
import { CLASSES, SCHEMAS, worse, type Json } from './known-classes.ts'

const DEFINITIONS = '#/components/schemas/'

const TEXT = { type: 'string' }
const WHOLE = { type: 'integer' }
const BASE64 = { ...TEXT, contentEncoding: 'base64' }
const IMAGE = { ...TEXT, contentMediaType: 'image/png' }
const ODD = { ...TEXT, contentMediaType: 'application/vnd.example.unknown' }
const LISTED = { ...TEXT, contentMediaType: 'application/json', contentSchema: WHOLE }
const PARTED = { allOf: [IMAGE, { ...TEXT, contentSchema: WHOLE }] }

const WRAP: Readonly<Record<'request' | 'response', (schema: Json) => Json>> = {
  request: (schema) => api({ requestBody: { content: { 'application/json': { schema } } } }, {}),
  response: (schema) => api({}, { content: { 'application/json': { schema } } }),
}

function api(operation: Json, answer: Json): Json {
  return {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    components: { schemas: SCHEMAS },
    paths: { '/a': { post: { ...operation, responses: { 200: { description: 'done', ...answer } } } } },
  }
}

for (const use of ['request', 'response'] as const) {
  const rows = CLASSES.map(([what, one, other, request, response]): ElementRow<Json> => {
    const [forth, back] = use === 'request' ? request : response
    return [what, one, other, forth, back]
  })
  checkElements(`in a schema of a ${use}`, 'openapi', rows, (schema) => named(WRAP[use](schema)))
}

/** References as OpenAPI spells them. */
function named(document: Json): unknown {
  return JSON.parse(JSON.stringify(document).replaceAll('#/$defs/', DEFINITIONS))
}

const shared = (schema: Json): unknown => {
  const content = { 'application/json': { schema: { $ref: `${DEFINITIONS}Shared` } } }
  const whole = api({ requestBody: { content } }, { content })
  return named({ ...whole, components: { schemas: { ...SCHEMAS, Shared: schema } } })
}

checkElements(
  'in a schema of requests and responses',
  'openapi',
  CLASSES.map(([what, one, other, [forth, back], [answerForth, answerBack]]): ElementRow<Json> => [
    what,
    one,
    other,
    worse(forth, answerForth),
    worse(back, answerBack),
  ]),
  shared,
)

/** Draft 6 and earlier drafts do not have the keyword, so the row is of OpenAPI only. */
checkElements(
  'what is said of the content of a text',
  'openapi',
  [
    [
      'a media type of what may be a text',
      { type: ['string', 'integer'], contentMediaType: 'image/png' },
      { type: ['string', 'integer'] },
      'breaking',
      'breaking',
    ],
    ['a schema for the content beside an encoding only', BASE64, { ...BASE64, contentSchema: WHOLE }, 'none', 'none'],
    ['an encoding without a media type', BASE64, TEXT, 'breaking', 'breaking'],
    ['an encoding and a schema, for a text', { ...BASE64, contentSchema: WHOLE }, TEXT, 'breaking', 'breaking'],
    ['a schema beside a media type', IMAGE, { ...IMAGE, contentSchema: WHOLE }, 'breaking', 'breaking'],
    ['a schema beside a media type that nobody knows', ODD, { ...ODD, contentSchema: WHOLE }, 'breaking', 'breaking'],
    ['a media type that gives a schema its effect', { ...TEXT, contentSchema: WHOLE }, LISTED, 'breaking', 'breaking'],
    ['a schema in one part, a media type in another', PARTED, { allOf: [IMAGE, TEXT] }, 'none', 'none'],
  ],
  shared,
)
