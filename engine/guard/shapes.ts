/**
 * The forms in which frameworks represent tools: functions, objects with a member that runs them (Vercel AI SDK,
 * LangChain and others), clients of MCP servers. This file only wraps them; `guard` decides whether a call may run.
 */
import { readJson } from '../contracts/json-text.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../model/limits.ts'
import { isRecord } from '../schema/located.ts'

/** Runs the tool itself. */
export type Run = () => unknown
/** @param args of the tool; null when there is no single reading of them */
export type Guard = (tool: string, args: unknown, run: Run) => Promise<unknown>

/** Members that run a tool, by framework: the Vercel AI SDK; LangChain; LlamaIndex; others. */
const RUNNERS = ['execute', 'invoke', 'func', '_call', 'call', 'run', 'handler', 'callback'] as const
export type Runner = (typeof RUNNERS)[number]

const isRunner = (name: string | symbol): boolean => RUNNERS.some((runner) => runner === name)

type Callable = (...args: unknown[]) => unknown

function isCallable(value: unknown): value is Callable {
  return typeof value === 'function'
}

/**
 * The same tool with every way of running it guarded.
 * @throws TypeError if nothing in it can be run: a guard without effect would look like a real one
 */
export function guardedTool(name: string, tool: unknown, guard: Guard): unknown {
  if (isCallable(tool)) return Object.freeze(held(name, tool, guard))
  if (typeof tool !== 'object' || tool === null || !RUNNERS.some((runner) => isCallable(Reflect.get(tool, runner))))
    throw new TypeError(`The tool ${name} is no function and has none of ${RUNNERS.join(', ')} to run it.`)
  return withMembers(tool, (member, run) => (isRunner(member) ? held(name, run, guard) : null))
}

/** Judges and runs a copy of the arguments, so that the caller cannot change them in between. */
function held(name: string, run: Callable, guard: Guard): Callable {
  return (...args) => {
    const [given, ...more] = args
    const copy = args.length === 0 ? undefined : copyOf(given)
    return guard(name, argumentsOf(copy?.value), () => run(...(copy === null ? args : [copy?.value, ...more])))
  }
}

const MAX_DEPTH = 64

/**
 * Plain data, each member read once. Null if it contains anything else, which could return another value on a second
 * read.
 */
function copyOf(value: unknown, depth = 0): { readonly value: unknown } | null {
  if (typeof value !== 'object' || value === null) return isCallable(value) ? null : { value }
  const isPlain = Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value))
  if (!isPlain || depth > MAX_DEPTH) return null
  const members: [string, unknown][] = []
  for (const [name, member] of Object.entries(value)) {
    const copy = copyOf(member, depth + 1)
    if (copy === null) return null
    members.push([name, copy.value])
  }
  return { value: Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members) }
}

/**
 * A client of an MCP server (the official SDK's, or a compatible one) with tool calls guarded, by `callTool` and by
 * `request`.
 */
export function guardedClient(client: object, guard: Guard): unknown {
  if (!isCallable(Reflect.get(client, 'callTool')))
    throw new TypeError('The MCP client has no callTool, so there is nothing to guard.')
  return withMembers(client, (member, run) => {
    if (member !== 'callTool' && member !== 'request') return null
    return (...args: unknown[]) => {
      const [given, ...more] = args
      const copy = copyOf(given)
      const request = copy?.value
      // A request that cannot be copied counts as a tool call with unreadable arguments.
      const isToolCall = member === 'callTool' || !isRecord(request) || request['method'] === 'tools/call'
      const params = member === 'callTool' ? request : isRecord(request) ? request['params'] : null
      const forward = (): unknown => run(...(copy === null ? args : [request, ...more]))
      return isToolCall ? guardedToolCall(params, guard, forward) : forward()
    }
  })
}

function guardedToolCall(params: unknown, guard: Guard, run: Run): Promise<unknown> {
  const { name, arguments: args } = isRecord(params) ? params : {}
  return guard(typeof name === 'string' ? name : '', args, run)
}

/**
 * A guarded member runs on the original object, so a tool that runs itself by another member is judged once. Other
 * members run on the guarded object, so what they make of the tool (a pipe, a batch) does not bypass the guard.
 */
function withMembers(target: object, guarded: (member: string | symbol, run: Callable) => Callable | null): unknown {
  const known = new WeakMap<object, unknown>()
  const wrapped = (inner: object): unknown => {
    const made = known.get(inner) ?? proxyOf(inner)
    known.set(inner, made)
    return made
  }
  /** Every way of reading a member returns what `get` returns. No member can be replaced. */
  const proxyOf = (inner: object): unknown => {
    const read = (member: string | symbol, receiver?: unknown): unknown => {
      const value: unknown = Reflect.get(inner, member, receiver ?? inner)
      if (isCallable(value)) return guarded(member, (...args) => Reflect.apply(value, inner, args)) ?? value
      return !SCHEMAS.has(member) && holdsRunner(value) ? wrapped(value) : value
    }
    const shell: object = Array.isArray(inner) ? [] : Object.create(Object.getPrototypeOf(inner))
    return new Proxy(shell, {
      get: (_, member, receiver) => read(member, receiver),
      has: (_, member) => Reflect.has(inner, member),
      ownKeys: () => Reflect.ownKeys(inner),
      set: (_, member, value) => !isGuarded(member) && Reflect.set(inner, member, value),
      defineProperty: () => false,
      deleteProperty: () => false,
      setPrototypeOf: () => false,
      preventExtensions: () => false,
      getOwnPropertyDescriptor(_, member) {
        const own = Reflect.getOwnPropertyDescriptor(inner, member)
        const shown = { enumerable: own?.enumerable ?? false, configurable: true, writable: false }
        if (Array.isArray(inner) && member === 'length')
          return { ...shown, value: inner.length, configurable: false, writable: true }
        return own === undefined ? undefined : { ...shown, value: read(member) }
      },
    })
  }
  const isGuarded = (member: string | symbol): boolean => guarded(member, () => null) !== null
  return wrapped(target)
}

/** Descriptions of arguments, which run only themselves. */
const SCHEMAS: ReadonlySet<string | symbol> = new Set([
  'schema',
  'parameters',
  'inputSchema',
  'outputSchema',
  'input_schema',
  'args_schema',
])

/**
 * Whether a value leads to something that runs a tool: its constructor arguments (`lc_kwargs`), a tool within a tool.
 */
function holdsRunner(value: unknown, depth = 0): value is object {
  if (typeof value !== 'object' || value === null || depth > 4) return false
  if (RUNNERS.some((runner) => isCallable(Reflect.get(value, runner)))) return true
  return Object.entries(value).some(([name, member]) => !SCHEMAS.has(name) && holdsRunner(member, depth + 1))
}

/** Frameworks pass an object, its JSON text (OpenAI), or a whole tool call around it (LangChain). */
function argumentsOf(given: unknown): unknown {
  if (typeof given === 'string') {
    // Strict parsing: with a duplicate key it is unknown which value the tool takes.
    const read = readJson(given, DEFAULT_DOCUMENT_LIMITS)
    return read.ok ? read.value : null
  }
  // The tool could take members that a tool call does not have.
  const isCall = isRecord(given) && given['type'] === 'tool_call' && 'args' in given
  return isCall && Object.keys(given).every((name) => CALL.has(name)) ? given['args'] : given
}

const CALL: ReadonlySet<string> = new Set(['type', 'args', 'id', 'name', 'index'])
