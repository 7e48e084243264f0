/** Reads the HTTP bindings of an rpc (google/api/http.proto). */
import type { Options } from '../../contracts/protobuf/features.ts'
import { isRecord, type JsonRecord } from '../../schema/located.ts'
import { HTTP_OPTION as OPTION } from './options.ts'

const METHODS = ['get', 'put', 'post', 'delete', 'patch']

export interface Binding {
  /** As text: `GET /v1/notes/{id}`. */
  readonly text: string
  readonly method: string
  readonly template: Template
  readonly body: string
  readonly responseBody: string
}

interface Template {
  /** Literals, `*` for one segment and `**` for all remaining ones. The verb after the last colon is included. */
  readonly segments: readonly string[]
  readonly verb: string
  /** The fields taken from the path, each with its segments. */
  readonly variables: readonly TemplateVariable[]
}

interface TemplateVariable {
  readonly field: string
  readonly from: number
  readonly to: number
}

/** The binding of an rpc and its additional ones. */
export function bindingsOf(options: Options): readonly Binding[] {
  const whole = options.get(OPTION)
  const members = [...options]
    .filter(([name]) => name.startsWith(`${OPTION}.`))
    .map(([name, value]) => [name.slice(OPTION.length + 1), value] as const)
  const rules: readonly unknown[] = Array.isArray(whole) ? whole : whole === undefined ? [] : [whole]
  const set = members.length === 0 ? [] : [nested(members)]
  return [...rules, ...set].flatMap((rule) => (isRecord(rule) ? readRule(rule) : []))
}

/** `option (google.api.http).custom.kind = "HEAD"` sets one member of the whole option. */
function nested(members: readonly (readonly [string, unknown])[]): JsonRecord {
  const custom = members.filter(([name]) => name.startsWith('custom.')).map(([name, value]) => [name.slice(7), value])
  const own = members.filter(([name]) => !name.includes('.'))
  return { ...Object.fromEntries(own), ...(custom.length === 0 ? {} : { custom: Object.fromEntries(custom) }) }
}

/** A rule and its additional bindings. A rule without a path binds nothing. */
function readRule(rule: JsonRecord): readonly Binding[] {
  const further: unknown = rule.additional_bindings ?? []
  const rules: readonly unknown[] = Array.isArray(further) ? further : [further]
  return [...ownBindings(rule), ...rules.flatMap((one) => (isRecord(one) ? ownBindings(one) : []))]
}

function ownBindings(rule: JsonRecord): readonly Binding[] {
  const text = (name: string): string => (typeof rule[name] === 'string' ? rule[name] : '')
  const custom = isRecord(rule.custom) ? rule.custom : {}
  const [kind, customPath] = [custom.kind, custom.path]
  const paths = METHODS.map((method) => [method.toUpperCase(), rule[method]] as const)
  return [...paths, [typeof kind === 'string' ? kind : '*', customPath] as const].flatMap(([method, path]) => {
    if (typeof path !== 'string') return []
    const [body, responseBody] = [text('body'), text('response_body')]
    const notes = [body === '' ? '' : ` with body ${body}`, responseBody === '' ? '' : ` answering ${responseBody}`]
    return [{ text: `${method} ${path}${notes.join('')}`, method, template: readTemplate(path), body, responseBody }]
  })
}

/** `/v1/{name=projects/*}/notes:archive` (google/api/http.proto, Path template syntax). */
function readTemplate(path: string): Template {
  const colon = path.lastIndexOf(':')
  const isVerb = colon > path.lastIndexOf('/') && colon > path.lastIndexOf('}')
  const [body, verb] = isVerb ? [path.slice(0, colon), path.slice(colon + 1)] : [path, '']
  const segments: string[] = []
  const variables: TemplateVariable[] = []
  for (const [, field, pattern, literal] of body.matchAll(/\{([^{}=]+)(?:=([^{}]*))?\}|([^/{}]+)/g)) {
    if (field === undefined) {
      segments.push(literal ?? '')
      continue
    }
    const from = segments.length
    segments.push(...(pattern ?? '*').split('/').filter((segment) => segment !== ''))
    variables.push({ field: field.trim(), from, to: segments.length })
  }
  return { segments, verb, variables }
}
