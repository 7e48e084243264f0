/** A plan written as OpenAPI. What is drawn here has no meaning: references, levels, names of variables, and orders. */
import type { Random } from '../../soundness/random.ts'
import {
  variablesOf,
  type Answer,
  type Credentials,
  type Kind,
  type Media,
  type Parameter,
  type Plan,
  type PlannedOperation,
} from './planned-interface.ts'

type Json = Readonly<Record<string, unknown>>

const SCHEMAS: Readonly<Record<Kind, Json>> = {
  text: { type: 'string' },
  whole: { type: 'integer' },
  flag: { type: 'boolean' },
  listed: { type: 'string', enum: ['x', '7'] },
}

const SCHEMES = {
  key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  token: { type: 'http', scheme: 'bearer' },
  oauth: {
    type: 'oauth2',
    flows: { clientCredentials: { tokenUrl: 'https://example.com/token', scopes: { read: '', write: '' } } },
  },
}

class Writing {
  readonly #random: Random
  readonly #components: Record<string, Record<string, unknown>> = { securitySchemes: SCHEMES }
  #next = 0

  constructor(random: Random) {
    this.#random = random
  }

  document(plan: Plan): string {
    const common = this.#random.chance(0.4) ? this.#random.pick(plan.map(({ security }) => security)) : null
    const paths = Object.fromEntries(
      this.#shuffled([...Map.groupBy(plan, ({ path }) => path)]).map(([path, operations]) =>
        this.#item(path, operations, common),
      ),
    )
    return JSON.stringify(
      this.#ordered({
        openapi: this.#random.pick(['3.0.3', '3.1.0']),
        info: { title: 't', version: '1.0.0' },
        paths,
        ...(common !== null && { security: this.#security(common) }),
        components: this.#components,
      }),
    )
  }

  #item(
    path: string,
    operations: readonly PlannedOperation[],
    common: readonly Credentials[] | null,
  ): readonly [string, Json] {
    const names = new Map(variablesOf(path).map((name) => [name, this.#random.chance(0.3) ? `${name}Id` : name]))
    const renamed = (one: Parameter): Parameter =>
      one.place === 'path' ? { ...one, name: names.get(one.name) ?? one.name } : one
    const planned = operations.map((operation) => ({ ...operation, parameters: operation.parameters.map(renamed) }))
    const written = planned.map(({ parameters }) => parameters.map((one) => JSON.stringify(one)))
    const shared = new Set(
      written[0]?.filter((one) => this.#random.chance(0.5) && written.every((list) => list.includes(one))),
    )
    const own = planned.map((operation) => [
      operation.method,
      this.#ordered({
        ...this.#listed(
          'parameters',
          operation.parameters.filter((one) => !shared.has(JSON.stringify(one))),
        ),
        ...(operation.body !== null && {
          requestBody: this.#kept('requestBodies', {
            required: operation.body.isRequired,
            content: this.#content(operation.body.media),
          }),
        }),
        responses: Object.fromEntries(
          this.#shuffled(operation.answers).map((answer) => [answer.status, this.#answer(answer)]),
        ),
        ...(JSON.stringify(common) !== JSON.stringify(operation.security) && {
          security: this.#security(operation.security),
        }),
      }),
    ])
    const template = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{${names.get(name) ?? name}}`)
    const sharedParameters = (planned[0]?.parameters ?? []).filter((one) => shared.has(JSON.stringify(one)))
    return [template, this.#ordered({ ...this.#listed('parameters', sharedParameters), ...Object.fromEntries(own) })]
  }

  #listed(name: string, parameters: readonly Parameter[]): Json {
    if (parameters.length === 0) return {}
    return { [name]: this.#shuffled(parameters).map((one) => this.#parameter(one)) }
  }

  #parameter({ name, place, kind, isRequired }: Parameter): unknown {
    return this.#kept('parameters', {
      name,
      in: place,
      ...(isRequired && { required: true }),
      schema: this.#schema(kind),
    })
  }

  #answer({ media, headers }: Answer): unknown {
    return this.#kept('responses', {
      description: 'done',
      ...(media.length > 0 && { content: this.#content(media) }),
      ...(headers.length > 0 && {
        headers: Object.fromEntries(
          headers.map(({ name, isRequired }) => [
            name,
            this.#kept('headers', { required: isRequired, schema: this.#schema('text') }),
          ]),
        ),
      }),
    })
  }

  #content(media: readonly Media[]): Json {
    return Object.fromEntries(
      this.#shuffled(media).map((one) => [
        one.name,
        one.name === 'application/json' ? { schema: this.#body(one) } : {},
      ]),
    )
  }

  #body({ member, isRequired }: Media): unknown {
    return this.#kept('schemas', {
      type: 'object',
      properties: { f: this.#schema(member) },
      ...(isRequired && { required: ['f'] }),
    })
  }

  #schema(kind: Kind): unknown {
    return this.#kept('schemas', SCHEMAS[kind])
  }

  #security(alternatives: readonly Credentials[]): readonly unknown[] {
    return this.#shuffled(alternatives)
  }

  /** In place, or under a name of its own in the components. */
  #kept(kind: string, value: Json): unknown {
    if (!this.#random.chance(0.3)) return this.#ordered(value)
    const name = `N${(this.#next += 1)}`
    const held = (this.#components[kind] ??= {})
    held[name] = this.#ordered(value)
    return { $ref: `#/components/${kind}/${name}` }
  }

  #shuffled<T>(list: readonly T[]): readonly T[] {
    return this.#random.shuffled(list)
  }

  #ordered(value: Json): Json {
    return Object.fromEntries(this.#random.shuffled(Object.entries(value)))
  }
}

export function writtenPlan(plan: Plan, random: Random): string {
  return new Writing(random).document(plan)
}
