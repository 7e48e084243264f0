/**
 * The parts of SARIF 2.1.0 that our logs use, as our own JSON Schema. Names, nesting, types and enumerated values are those of
 * the OASIS standard (section numbers at each object). All objects are closed, so that a misspelt member fails.
 */

function object(properties: object, required: readonly string[] = []): object {
  return { type: 'object', properties, required, additionalProperties: false }
}

const text = { type: 'string', minLength: 1 }
const count = { type: 'integer', minimum: 0 }
const position = { type: 'integer', minimum: 1 }
const list = (items: object): object => ({ type: 'array', items })
const level = { enum: ['none', 'note', 'warning', 'error'] }

/** §3.11 message, §3.12 multiformatMessageString: text suffices. */
const message = object({ text }, ['text'])

/** §3.49 reportingDescriptor. */
const rule = object(
  {
    id: text,
    shortDescription: message,
    fullDescription: message,
    help: message,
    defaultConfiguration: object({ level }),
    properties: object({ tags: { type: 'array', items: text, uniqueItems: true } }),
  },
  ['id'],
)

/** §3.28 location, §3.29 physicalLocation, §3.30 region, §3.33 logicalLocation. */
const location = object({
  physicalLocation: object(
    {
      artifactLocation: object({ uri: { type: 'string', pattern: "^(?:file://)?[A-Za-z0-9/._~!$&'()*+;=@%-]+$" } }),
      region: object({ startLine: position, startColumn: position }),
    },
    ['artifactLocation'],
  ),
  logicalLocations: list(
    object({
      fullyQualifiedName: text,
      kind: { enum: ['function', 'member', 'module', 'namespace', 'object', 'property', 'resource', 'type', 'value'] },
    }),
  ),
})

/** §3.27 result, §3.35 suppression. */
const result = object(
  {
    ruleId: text,
    ruleIndex: count,
    level,
    message,
    locations: list(location),
    partialFingerprints: { type: 'object', additionalProperties: text },
    suppressions: list(object({ kind: { enum: ['inSource', 'external'] }, justification: text }, ['kind'])),
    properties: object({ level: text, side: text, reaches: list(text), count }),
  },
  ['message'],
)

/** §3.13 sarifLog, §3.14 run, §3.19 toolComponent. */
export const sarifExcerpt: object = object(
  {
    $schema: { type: 'string', pattern: '^https://' },
    version: { const: '2.1.0' },
    runs: list(
      object(
        {
          tool: object({ driver: object({ name: text, semanticVersion: text, rules: list(rule) }, ['name']) }, [
            'driver',
          ]),
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          results: list(result),
        },
        ['tool'],
      ),
    ),
  },
  ['version', 'runs'],
)
