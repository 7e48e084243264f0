/**
 * The forms in which frameworks represent tools: functions, objects with a member that runs them (Vercel AI SDK,
 * LangChain and others), clients of MCP servers. This file only wraps them; `guard` decides whether a call may run.
 */
import { placedArguments, type CalledMember } from './call-forms.ts'
import { readJson } from '../contracts/json-text.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../model/limits.ts'
import { isRecord } from '../schema/located.ts'

/** Runs the tool itself. */
export type Run = () => unknown
/** @param args of the tool; null when there is no single reading of them */
export type Guard = (tool: string, args: unknown, run: Run) => Promise<unknown>

/** Members that run a tool, by framework: the Vercel AI SDK; LangChain; LlamaIndex; OpenAI; Google ADK; others. */
const RUNNERS = [
  ...(['execute', 'invoke', 'func', '_call', 'call', 'function', 'runAsync', 'run', '_run', 'handler'] as const),
  ...(['callback', 'exec', '_execute', 'executor', 'fn', 'action', 'implementation', 'toolCall', 'onCall'] as const),
] as const
export type Runner = (typeof RUNNERS)[number]

const SYMBOLS_OF_JAVASCRIPT: ReadonlySet<unknown> = new Set(
  Object.getOwnPropertyNames(Symbol).map((name) => Reflect.get(Symbol, name)),
)

/** What a symbol that is not known names could run the tool, too. */
const isRunner = (name: string | symbol): boolean =>
  typeof name === 'symbol'
    ? !SYMBOLS_OF_JAVASCRIPT.has(name) && Symbol.keyFor(name) === undefined
    : RUNNERS.some((runner) => runner === name)

type Callable = (...args: unknown[]) => unknown

function isCallable(value: unknown): value is Callable {
  return typeof value === 'function'
}

/**
 * The same tool with every way of running it guarded.
 * @throws TypeError if nothing in it can be run: a guard without effect would look like a real one
 */
export function guardedTool(name: string, tool: unknown, guard: Guard): unknown {
  if (isCallable(tool)) return Object.freeze(guardedCallable(name, tool, guard, null))
  if (typeof tool !== 'object' || tool === null || !(hasRunner(tool) || hasRunner(Reflect.get(tool, 'function'))))
    throw new TypeError(`The tool ${name} is not a function and has none of ${RUNNERS.join(', ')} to run it.`)
  return withMembers(tool, (member, run, owner) =>
    isRunner(member) ? guardedCallable(name, run, guard, { tool: owner, member }) : null,
  )
}

function hasRunner(value: unknown): boolean {
  return typeof value === 'object' && value !== null && RUNNERS.some((runner) => isCallable(Reflect.get(value, runner)))
}

/** Judges and runs a copy of the arguments, so that the caller cannot change them in between. */
function guardedCallable(name: string, run: Callable, guard: Guard, called: CalledMember | null): Callable {
  return (...call) => {
    const { given, replaced } = placedArguments(called, call)
    const copy = copyOf(given)
    const args = copy === null ? null : parsedArguments(copy.value)
    return guard(name, args, () => run(...(copy === null || call.length === 0 ? call : replaced(copy.value))))
  }
}

const MAX_DEPTH = 64

/**
 * Plain data, each member read once. Null if it contains anything else, which could return another value on a second
 * read.
 */
function copyOf(value: unknown, depth = 0): { readonly value: unknown } | null {
  if (typeof value !== 'object' || value === null) return isCallable(value) ? null : { value }
  if (isCollection(value) || !isPlain(value) || depth > MAX_DEPTH) return null
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
  if (typeof client !== 'object' || client === null || !isCallable(Reflect.get(client, 'callTool')))
    throw new TypeError('The MCP client has no callTool, so there is nothing to guard.')
  const guarded = (member: string | symbol, run: Callable): Callable | null => {
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
  }
  return withMembers(client, guarded, (member, value) =>
    member === 'transport' || member === '_transport' ? guardedTransport(value, guard) : value,
  )
}

/** The connection of a client, which takes messages as they are: `send` is guarded, all else runs on the original. */
function guardedTransport(transport: unknown, guard: Guard): unknown {
  if (typeof transport !== 'object' || transport === null) return transport
  const read = (member: string | symbol): unknown => {
    const value: unknown = Reflect.get(transport, member, transport)
    if (!isCallable(value)) return value
    const run = (...args: unknown[]): unknown => Reflect.apply(value, transport, args)
    return member === 'send' ? guardedSend(run, guard) : run
  }
  return new Proxy(Object.create(null), {
    get: (_, member) => read(member),
    has: (_, member) => Reflect.has(transport, member),
    set: (_, member, value) => member !== 'send' && Reflect.set(transport, member, value),
    defineProperty: () => false,
  })
}

function guardedSend(run: Callable, guard: Guard): Callable {
  return (given, ...more) => {
    const copy = copyOf(given)
    const messages: readonly unknown[] = Array.isArray(copy?.value) ? copy.value : [copy?.value]
    const call = messages.find((message) => !isRecord(message) || message['method'] === 'tools/call')
    const forward = (): unknown => run(copy === null ? given : copy.value, ...more)
    if (call === undefined && copy !== null) return forward()
    // Of a list, one call would be judged and all would be sent.
    return guardedToolCall(messages.length === 1 && isRecord(call) ? call['params'] : null, guard, forward)
  }
}

function guardedToolCall(params: unknown, guard: Guard, run: Run): Promise<unknown> {
  const { name, arguments: args } = isRecord(params) ? params : {}
  return guard(typeof name === 'string' ? name : '', args, run)
}

/**
 * A guarded member runs on the original object, so a tool that runs itself by another member is judged once. Other
 * members run on the guarded object, so what they make of the tool (a pipe, a batch) does not bypass the guard.
 */
function withMembers(
  target: object,
  guarded: (member: string | symbol, run: Callable, owner: object) => Callable | null,
  replaced: (member: string | symbol, value: unknown) => unknown = (_, value) => value,
): unknown {
  const known = new WeakMap<object, unknown>()
  const wrapped = (inner: object): unknown => {
    const made = known.get(inner) ?? (isCollection(inner) ? copied(inner) : proxyOf(inner))
    known.set(inner, made)
    return made
  }
  const guardedItem = (value: unknown): unknown => (holdsRunner(value) ? wrapped(value) : value)
  const copied = (inner: Collection): unknown =>
    inner instanceof Map
      ? new Map([...inner].map(([name, value]) => [guardedItem(name), guardedItem(value)]))
      : new Set([...inner].map(guardedItem))
  /** Every way of reading a member returns what `get` returns. No member can be replaced. */
  const proxyOf = (inner: object): unknown => {
    const read = (member: string | symbol, receiver?: unknown): unknown => {
      const value: unknown = Reflect.get(inner, member, receiver ?? inner)
      if (isCallable(value)) {
        const run = guarded(member, (...args) => Reflect.apply(value, inner, args), inner)
        return run ?? (member !== 'constructor' && holdsRunner(value) ? wrapped(value) : value)
      }
      const other = replaced(member, value)
      if (other !== value) return other
      return !SCHEMAS.has(member) && holdsRunner(value) ? wrapped(value) : value
    }
    const shell: object = shellOf(inner)
    const proxy: object = new Proxy(shell, {
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
    GUARDED.add(proxy)
    return proxy
  }
  const isGuarded = (member: string | symbol): boolean => guarded(member, () => null, target) !== null
  return wrapped(target)
}

/** What a proxy stands for as to its type; nothing is read of it. */
function shellOf(inner: object): object {
  if (isCallable(inner)) return (...args: unknown[]) => Reflect.apply(inner, undefined, args)
  return Array.isArray(inner) ? [] : Object.create(Object.getPrototypeOf(inner))
}

/** What was made here needs no further guard. */
const GUARDED = new WeakSet<object>()

type Collection = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>

function isCollection(value: object): value is Collection {
  return value instanceof Map || value instanceof Set
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
function holdsRunner(value: unknown, depth = 0, seen = new Set<object>()): value is object {
  if (isCallable(value)) return !seen.has(value) && runsByMember(value, depth, seen.add(value))
  if (typeof value !== 'object' || value === null || depth > 4 || GUARDED.has(value) || seen.has(value)) return false
  seen.add(value)
  const isHeld = (member: unknown): boolean => holdsRunner(member, isPlain(value) ? depth : depth + 1, seen)
  if (isCollection(value)) return [...value.entries()].flat().some(isHeld)
  if (hasRunner(value)) return true
  const names = isPlain(value) ? Reflect.ownKeys(value) : Object.keys(value)
  return names.some((name) => {
    const member: unknown = SCHEMAS.has(name) ? null : Reflect.get(value, name)
    return (isPlain(value) && isCallable(member) && isRunner(name)) || isHeld(member)
  })
}

/** A function that has a way to run a tool among its own members. Every function has the inherited `call`. */
function runsByMember(value: Callable, depth: number, seen: Set<object>): boolean {
  return Object.keys(value).some((name) => {
    const member: unknown = Reflect.get(value, name)
    return (isCallable(member) && isRunner(name)) || holdsRunner(member, depth + 1, seen)
  })
}

/** A mere holder of values, as literals make it: looked through in any depth, by every name. */
function isPlain(value: object): boolean {
  return isCollection(value) || Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value))
}

/** Frameworks pass an object, its JSON text (OpenAI), or a whole tool call around it (LangChain). */
function parsedArguments(given: unknown): unknown {
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
