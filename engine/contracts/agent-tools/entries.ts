/** Finds the tools in a document, in any container: a list, a request, a record by name. */
import {
  isRecord,
  locatedItems,
  memberOf,
  recordOf,
  ROOT,
  textAt,
  type JsonRecord,
  type Located,
} from '../../schema/located.ts'
import {
  FUNCTION_FORM,
  GEMINI_FORM,
  GEMINI_HOSTED_FORM,
  SERVER_FORM,
  TOOL_FORMS,
  VERCEL_HOSTED_MEMBER_FORM,
  VERCEL_MEMBER_FORM,
  type ToolForm,
} from './vendor-formats.ts'
import { geminiName } from './gemini.ts'

/** One tool of a document, not yet read. */
export interface ToolEntry {
  readonly located: Located
  /** Null if no known form has this shape. */
  readonly form: ToolForm | null
  /** The name, if the document uses it as the key of the tool. */
  readonly key: string | null
  /** The name of the enclosing namespace, which is part of the called name. */
  readonly namespace: string | null
}

const DECLARATIONS: ReadonlySet<string> = new Set(['functionDeclarations', 'function_declarations'])

const GEMINI_HOSTED_MEMBER =
  /^(?:google_?search(?:_?retrieval)?|enterprise_?web_?search|code_?execution|url_?context|google_?maps|file_?search|computer_?use|retrieval)$/i

/** The tools of a document in order. Null if the document contains none in any form. */
export function toolEntries(root: unknown): readonly ToolEntry[] | null {
  const whole: Located = { value: root, at: ROOT, document: '' }
  if (Array.isArray(root)) return toolsInList(whole)
  if (!isRecord(root)) return null
  const held = heldTools(whole)
  if (held.length > 0) return held.flatMap((read) => read())
  if (TOOL_FORMS.some(({ isOf, kind }) => kind === 'function' && isOf(root))) return [toolEntry(whole)]
  return isToolRecord(root) ? named(whole) : null
}

/** Each part of a request that holds tools. Providers read all of them. */
function heldTools(whole: Located): readonly (() => readonly ToolEntry[])[] {
  const config = memberOf(whole, 'toolConfig')
  const functions = memberOf(whole, 'functions')
  const held = [memberOf(whole, 'tools'), functions, config && memberOf(config, 'tools')]
  const parts = held.flatMap((part): (() => readonly ToolEntry[])[] => {
    if (Array.isArray(part?.value))
      return [() => (part === functions ? toolsInList(part).map(asFunction) : toolsInList(part))]
    return isRecord(part?.value) && isToolRecord(part.value) ? [() => named(part)] : []
  })
  if ([...DECLARATIONS].some((member) => Array.isArray(recordOf(whole.value)[member])))
    parts.push(() => declared(whole))
  const servers = memberOf(whole, SERVERS)
  if (servers !== null && servers.value !== null) parts.push(() => serversIn(servers))
  return parts
}

/** Servers whose tools Anthropic calls itself. Their sets of tools name them. */
const SERVERS = 'mcp_servers'

function serversIn(list: Located): readonly ToolEntry[] {
  if (!Array.isArray(list.value)) return [{ located: list, form: null, key: null, namespace: null }]
  return locatedItems(list).map((located) => {
    const name = textAt(located.value, 'name')
    const isNamed = name !== null && name !== ''
    return { located, form: isNamed ? SERVER_FORM : null, key: `${SERVERS}/${name}`, namespace: null }
  })
}

function isToolRecord(record: JsonRecord): boolean {
  const values = Object.values(record)
  return values.length > 0 && values.every((value) => memberForm(value) !== null)
}

function memberForm(value: unknown): ToolForm | null {
  if (!isRecord(value)) return null
  return [VERCEL_HOSTED_MEMBER_FORM, VERCEL_MEMBER_FORM].find(({ isOf }) => isOf(value)) ?? null
}

function toolsInList(list: Located): readonly ToolEntry[] {
  return locatedItems(list).flatMap((item) => {
    if (isCachePoint(item.value)) return []
    return isGemini(item.value) ? declared(item) : namespaceEntries(item)
  })
}

function asFunction(entry: ToolEntry): ToolEntry {
  const { value } = entry.located
  return entry.form === null && isRecord(value) && FUNCTION_FORM.isOf(value) ? { ...entry, form: FUNCTION_FORM } : entry
}

/** A cache point of Bedrock, which is not a tool. */
function isCachePoint(value: unknown): boolean {
  return isRecord(value) && isRecord(value['cachePoint']) && Object.keys(value).length === 1
}

/** The tools of an item: itself, or the tools that it contains. */
function namespaceEntries(item: Located): readonly ToolEntry[] {
  const entry = toolEntry(item)
  if (entry.form?.isNamespace !== true) return [entry]
  const namespace = textAt(item.value, 'name')
  const held = memberOf(item, 'tools')
  return [entry, ...(held === null ? [] : locatedItems(held).map((located) => ({ ...toolEntry(located), namespace })))]
}

/** Gemini's tools have no name and type: they are members of an object. */
function isGemini(value: unknown): boolean {
  if (!isRecord(value)) return false
  const names = Object.keys(value)
  return names.length > 0 && names.every((name) => DECLARATIONS.has(name) || GEMINI_HOSTED_MEMBER.test(name))
}

function declared(holder: Located): readonly ToolEntry[] {
  const names = isRecord(holder.value) ? Object.keys(holder.value) : []
  return names.flatMap((key): readonly ToolEntry[] => {
    const held = memberOf(holder, key)
    if (held === null) return []
    if (DECLARATIONS.has(key))
      return locatedItems(held).map((located) => ({ located, form: geminiFormOf(located), key: null, namespace: null }))
    if (!GEMINI_HOSTED_MEMBER.test(key)) return []
    return [{ located: held, form: GEMINI_HOSTED_FORM, key: geminiName(key), namespace: null }]
  })
}

function geminiFormOf({ value }: Located): ToolForm | null {
  return isRecord(value) && GEMINI_FORM.isOf(value) ? GEMINI_FORM : null
}

function named(holder: Located): readonly ToolEntry[] {
  const names = isRecord(holder.value) ? Object.keys(holder.value) : []
  return names.flatMap((key) => {
    const located = memberOf(holder, key)
    return located === null ? [] : [{ located, form: memberForm(located.value), key, namespace: null }]
  })
}

function toolEntry(located: Located): ToolEntry {
  const { value } = located
  const form = isRecord(value) ? (TOOL_FORMS.find(({ isOf }) => isOf(value)) ?? null) : null
  return { located, form, key: null, namespace: null }
}

/**
 * Whether a value contains tools in a form that no other contract has: every tool is known, and a model calls at least
 * one.
 */
export function isAgentTools(root: unknown): boolean {
  const entries = toolEntries(root)
  if (entries === null || entries.length === 0 || entries.some(({ form }) => form === null)) return false
  if (entries.some(({ located, form }) => located.value === root && form?.isSchema === true)) return false
  return entries.some(({ form }) => form?.kind !== 'hosted')
}
