/**
 * The shapes in which frameworks hold tools: functions, objects with a member that runs them (Vercel AI SDK, LangChain and others),
 * clients of MCP servers. Here they are only wrapped: whether a call may run is asked of `guard`.
 */
import { readJson } from './contracts/json-text.ts'
import { DEFAULT_DOCUMENT_LIMITS } from './limits.ts'
import { isRecord } from './schema/located.ts'

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
 * The same tool, guarded in whichever way it is run.
 * @throws TypeError when nothing about it can be run: a guard that wraps nothing would be believed
 */
export function guardedTool(name: string, tool: unknown, guard: Guard): unknown {
  if (isCallable(tool)) return Object.freeze(held(name, tool, guard))
  if (typeof tool !== 'object' || tool === null || !RUNNERS.some((runner) => isCallable(Reflect.get(tool, runner))))
    throw new TypeError(`The tool ${name} is no function and has none of ${RUNNERS.join(', ')} to run it.`)
  return withMembers(tool, (member, run) => (isRunner(member) ? held(name, run, guard) : null))
}

/** Judged and run with a copy of the arguments: who holds on to them changes nothing any more. */
function held(name: string, run: Callable, guard: Guard): Callable {
  return (...args) => {
    const [given, ...more] = args
    const copy = args.length === 0 ? undefined : copyOf(given)
    return guard(name, argumentsOf(copy?.value), () => run(...(copy === null ? args : [copy?.value, ...more])))
  }
}

const MAX_DEPTH = 64

/** Plain data, each member read once; null: there is something else in it, which could be read as another thing the next time. */
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

/** A client of an MCP server (the official SDK's, or one alike): its calls of tools are guarded, by `callTool` and by `request`. */
export function guardedClient(client: object, guard: Guard): unknown {
  if (!isCallable(Reflect.get(client, 'callTool')))
    throw new TypeError('The MCP client has no callTool, so there is nothing to guard.')
  return withMembers(client, (member, run) => {
    if (member !== 'callTool' && member !== 'request') return null
    return (...args: unknown[]) => {
      const [given, ...more] = args
      const copy = copyOf(given)
      const request = copy?.value
      // What cannot be copied is taken for a call of a tool that nobody can read.
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
 * What is guarded runs on the object itself, so that a tool which runs itself by another of its members is judged once; everything else
 * runs on the guarded one, so that what it makes of the tool (a pipe, a batch) holds no way around.
 */
function withMembers(target: object, guarded: (member: string | symbol, run: Callable) => Callable | null): unknown {
  const known = new WeakMap<object, unknown>()
  const wrapped = (inner: object): unknown => {
    const made = known.get(inner) ?? proxyOf(inner)
    known.set(inner, made)
    return made
  }
  /** Members are shown as `get` has them, whichever way they are asked for; none can be put in their place. */
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

/** Whether something that runs a tool can be reached through a value: what it was made of (`lc_kwargs`), a tool within a tool. */
function holdsRunner(value: unknown, depth = 0): value is object {
  if (typeof value !== 'object' || value === null || depth > 4) return false
  if (RUNNERS.some((runner) => isCallable(Reflect.get(value, runner)))) return true
  return Object.entries(value).some(([name, member]) => !SCHEMAS.has(name) && holdsRunner(member, depth + 1))
}

/** Frameworks hand over an object, its JSON text (OpenAI), or a whole tool call around it (LangChain). */
function argumentsOf(given: unknown): unknown {
  if (typeof given === 'string') {
    // Strictly: of a key that stands there twice nobody knows which the tool will take.
    const read = readJson(given, DEFAULT_DOCUMENT_LIMITS)
    return read.ok ? read.value : null
  }
  // Other members than those of a call could be what the tool takes.
  const isCall = isRecord(given) && given['type'] === 'tool_call' && 'args' in given
  return isCall && Object.keys(given).every((name) => CALL.has(name)) ? given['args'] : given
}

const CALL: ReadonlySet<string> = new Set(['type', 'args', 'id', 'name', 'index'])
