/**
 * Where the arguments of a call stand. Most frameworks pass them first. Two pass an object of the running agent beside
 * them. The program makes that object, not the model, so it is not judged and goes to the tool as it is.
 */
import { isRecord } from '../schema/located.ts'

/** The arguments of a call, and the call with others in their place. */
interface PlacedArguments {
  readonly given: unknown
  readonly replaced: (given: unknown) => readonly unknown[]
}

/** How the tool is run. */
export interface CalledMember {
  readonly tool: object
  readonly member: string | symbol
}

/** Null: the call is not in this form. */
type CallForm = (called: CalledMember, call: readonly unknown[]) => PlacedArguments | null

const FORMS: readonly CallForm[] = [openaiAgents, googleAdk]

/** @param called null: the tool is a function */
export function placedArguments(called: CalledMember | null, call: readonly unknown[]): PlacedArguments {
  if (called === null) return first(call)
  return FORMS.map((form) => form(called, call)).find((placed) => placed !== null) ?? first(call)
}

function first([given, ...more]: readonly unknown[]): PlacedArguments {
  return { given, replaced: (other) => [other, ...more] }
}

/** OpenAI Agents SDK: `invoke(context, text, details)` of a tool `{ type: 'function', name, parameters, invoke }`. */
function openaiAgents({ tool, member }: CalledMember, call: readonly unknown[]): PlacedArguments | null {
  if (member !== 'invoke') return null
  const { type, name, parameters } = Object(tool)
  const [context, text, ...details] = call
  const isTool = type === 'function' && typeof name === 'string' && isRecord(parameters)
  return isTool && isInstance(context) && typeof text === 'string'
    ? { given: text, replaced: (other) => [context, other, ...details] }
    : null
}

/** The class of the tools of Google ADK marks them with this. */
const ADK_TOOL = Symbol.for('google.adk.baseTool')

/** Google ADK: `runAsync({ args, toolContext })`. */
function googleAdk({ tool, member }: CalledMember, call: readonly unknown[]): PlacedArguments | null {
  const [request, ...more] = call
  if (member !== 'runAsync' || Reflect.get(tool, ADK_TOOL) !== true || more.length > 0) return null
  if (!isRecord(request) || isInstance(request)) return null
  const names = Reflect.ownKeys(request)
  const { args, toolContext } = request
  return names.length === 2 && names.every((name) => name === 'args' || name === 'toolContext')
    ? { given: args, replaced: (other) => [{ args: other, toolContext }] }
    : null
}

/** An object of a class: no plain data that a model could have written. */
function isInstance(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    ![Object.prototype, null].includes(Object.getPrototypeOf(value))
  )
}
