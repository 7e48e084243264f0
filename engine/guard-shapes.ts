/**
 * The shapes in which frameworks hold tools: functions, objects with a member that runs them (Vercel AI SDK, LangChain and others),
 * clients of MCP servers. Here they are only wrapped: whether a call may run is asked of `guard`.
 */
import { readJson } from './contracts/json-text.ts'
import { DEFAULT_DOCUMENT_LIMITS } from './contracts/limits.ts'
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
  if (isCallable(tool)) return (...args: unknown[]) => guard(name, argumentsOf(args[0]), () => tool(...args))
  if (typeof tool !== 'object' || tool === null || !RUNNERS.some((runner) => isCallable(Reflect.get(tool, runner))))
    throw new TypeError(`The tool ${name} is no function and has none of ${RUNNERS.join(', ')} to run it.`)
  return withMembers(tool, (member, run) =>
    isRunner(member) ? (...args: unknown[]) => guard(name, argumentsOf(args[0]), () => run(...args)) : null,
  )
}

/** A client of an MCP server (the official SDK's, or one alike): its calls of tools are guarded, by `callTool` and by `request`. */
export function guardedClient(client: object, guard: Guard): unknown {
  if (!isCallable(Reflect.get(client, 'callTool')))
    throw new TypeError('The MCP client has no callTool, so there is nothing to guard.')
  return withMembers(client, (member, run) => {
    if (member === 'callTool') return (...args: unknown[]) => guardedToolCall(args[0], guard, () => run(...args))
    if (member !== 'request') return null
    return (...args: unknown[]) => {
      const [request] = args
      const isToolCall = !isRecord(request) || request['method'] === 'tools/call'
      return isToolCall
        ? guardedToolCall(isRecord(request) ? request['params'] : null, guard, () => run(...args))
        : run(...args)
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
  return new Proxy(target, {
    get(_, member, receiver) {
      const value: unknown = Reflect.get(target, member, receiver)
      if (!isCallable(value)) return value
      return guarded(member, (...args) => Reflect.apply(value, target, args)) ?? value
    },
  })
}

/** Frameworks hand over an object, its JSON text (OpenAI), or a whole tool call around it (LangChain). */
function argumentsOf(given: unknown): unknown {
  if (typeof given === 'string') {
    // Strictly: of a key that stands there twice nobody knows which the tool will take.
    const read = readJson(given, DEFAULT_DOCUMENT_LIMITS)
    return read.ok ? read.value : null
  }
  return isRecord(given) && given['type'] === 'tool_call' && 'args' in given ? given['args'] : given
}
