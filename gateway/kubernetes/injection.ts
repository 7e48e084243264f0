/**
 * What a pod asks of the injector by its annotations, read against what the platform's owner allows. Everything that is not
 * understood is a problem: a pod with a mistake is refused, not injected in another way.
 */
import { recordIn } from '../json/unchecked-json.ts'
import type { KubernetesObject } from '../protocols/kubernetes/change.ts'
import { ENVELOPE_ANNOTATION, RECEIPT_ANNOTATION } from '../protocols/kubernetes/receipt-annotations.ts'
import { TRAFFIC_MODES, type InjectorSettings, type TrafficMode } from './settings.ts'
import { readCidrs, readEach, readPorts, separatedItems, type ReadTerms } from './traffic-terms.ts'
import { nearest } from '../../engine/base.ts'

export interface Injection {
  readonly mode: TrafficMode
  readonly configMap: string
  readonly ports: readonly string[]
  readonly excludePorts: readonly string[]
  readonly includeCidrs: readonly string[]
  readonly excludeCidrs: readonly string[]
  /** True for the containers that get variables and certificates. */
  readonly includes: (container: string) => boolean
  /** Variable → path at the proxy, e.g. OPENAI_BASE_URL → /openai. */
  readonly baseUrls: ReadonlyMap<string, string>
  readonly noProxy: readonly string[]
  readonly resources: { readonly cpu: string; readonly memory: string; readonly memoryLimit: string }
}

type ReadInjection =
  | { readonly kind: 'inject'; readonly injection: Injection }
  /** The pod opts out, and may. */
  | { readonly kind: 'leave' }
  | { readonly kind: 'refuse'; readonly problems: readonly string[] }

const PREFIX = 'preflight.dev/'
export const STATUS_ANNOTATION = `${PREFIX}status`
const NAMES = [
  'inject',
  'mode',
  'config',
  'include-ports',
  'exclude-ports',
  'include-cidrs',
  'exclude-cidrs',
  'include-containers',
  'exclude-containers',
  'base-urls',
  'no-proxy',
  'sidecar-cpu',
  'sidecar-memory',
  'sidecar-memory-limit',
] as const
type AnnotationName = (typeof NAMES)[number]
/** Annotations of ours that are not for the injector. */
const OTHERS: ReadonlySet<string> = new Set([STATUS_ANNOTATION, RECEIPT_ANNOTATION, ENVELOPE_ANNOTATION])

interface TextForm {
  readonly pattern: RegExp
  /** In words: what the text is, and how it is written. */
  readonly form: string
}

const CONFIG_MAP: TextForm = { pattern: /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/, form: 'the name of a ConfigMap' }
const QUANTITY: TextForm = { pattern: /^\d+(?:\.\d+)?(?:m|Ki|Mi|Gi)?$/, form: 'a quantity: write 100m or 128Mi' }
const BASE_URL: TextForm = {
  pattern: /^([A-Za-z_][A-Za-z0-9_]*)=(\/[\w./~-]*)$/,
  form: 'a variable and a path: write OPENAI_BASE_URL=/openai',
}
const HOST_LIST_ITEM: TextForm = { pattern: /^[\w.*:/-]+$/, form: 'a host: write db.internal or .internal' }

export function readInjection(pod: KubernetesObject, settings: InjectorSettings): ReadInjection {
  const annotations = annotationsOf(pod)
  const problems = [...annotations.keys()].flatMap(unknownName)
  const textOf = (name: AnnotationName): string | undefined => annotations.get(`${PREFIX}${name}`)
  const inject = textOf('inject') ?? 'true'
  if (inject === 'false' && settings.opt_out && problems.length === 0) return { kind: 'leave' }
  if (inject === 'false') problems.push('this cluster does not let pods opt out (injector.opt_out)')
  else if (inject !== 'true') problems.push(`${PREFIX}inject is ${JSON.stringify(inject)}; write "true" or "false"`)

  const terms = (name: AnnotationName, read: (text: string) => ReadTerms, otherwise = ''): readonly string[] => {
    const found = read(textOf(name) ?? otherwise)
    if (found.ok) return found.values
    problems.push(`${PREFIX}${name}: ${found.problem}`)
    return []
  }
  const matching = (name: AnnotationName, { pattern, form }: TextForm, otherwise: string): string => {
    const text = textOf(name) ?? otherwise
    if (!pattern.test(text)) problems.push(`${PREFIX}${name}: ${JSON.stringify(text)} is not ${form}`)
    return text
  }
  const mode = modeOf(textOf('mode'), settings)
  if (mode === null)
    problems.push(
      `${PREFIX}mode is ${JSON.stringify(textOf('mode'))}; this cluster allows ${settings.allowed_modes.join(', ')}`,
    )
  const injection: Injection = {
    mode: mode ?? settings.mode,
    configMap: matching('config', CONFIG_MAP, settings.config_map),
    ports: terms('include-ports', readPorts, '80,443'),
    excludePorts: terms('exclude-ports', readPorts),
    includeCidrs: terms('include-cidrs', readCidrs),
    excludeCidrs: terms('exclude-cidrs', readCidrs),
    includes: containerFilter(textOf('include-containers'), textOf('exclude-containers')),
    baseUrls: new Map(
      terms('base-urls', eachMatching(BASE_URL)).map((item) => {
        const [name = '', path = ''] = item.split('=')
        return [name, path]
      }),
    ),
    noProxy: terms('no-proxy', eachMatching(HOST_LIST_ITEM)),
    resources: {
      cpu: matching('sidecar-cpu', QUANTITY, settings.cpu),
      memory: matching('sidecar-memory', QUANTITY, settings.memory),
      memoryLimit: matching('sidecar-memory-limit', QUANTITY, settings.memory_limit),
    },
  }
  return problems.length === 0 ? { kind: 'inject', injection } : { kind: 'refuse', problems }
}

export function annotationsOf(pod: KubernetesObject): ReadonlyMap<string, string> {
  const metadata = recordIn(pod['metadata'])
  const annotations = recordIn(metadata['annotations'])
  return new Map(
    Object.entries(annotations).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])),
  )
}

function unknownName(annotation: string): readonly string[] {
  if (!annotation.startsWith(PREFIX) || OTHERS.has(annotation)) return []
  const name = annotation.slice(PREFIX.length)
  if (NAMES.some((known) => known === name)) return []
  const guess = nearest(name, NAMES)
  return [`the annotation ${annotation} is not known${guess === null ? '' : `; did you mean ${PREFIX}${guess}?`}`]
}

function modeOf(stated: string | undefined, { mode, allowed_modes: allowed }: InjectorSettings): TrafficMode | null {
  const named = stated === undefined ? mode : TRAFFIC_MODES.find((known) => known === stated)
  return named !== undefined && allowed.includes(named) ? named : null
}

function containerFilter(included: string | undefined, excluded: string | undefined): Injection['includes'] {
  const only = included === undefined ? null : new Set(separatedItems(included))
  const not = new Set(separatedItems(excluded ?? ''))
  return (name) => (only === null || only.has(name)) && !not.has(name)
}

function eachMatching({ pattern, form }: TextForm): (text: string) => ReadTerms {
  return (text) => readEach(text, form, (item) => (pattern.test(item) ? item : null))
}
