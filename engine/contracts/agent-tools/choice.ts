/**
 * What a request states of the choice of tools: whether the model may call one, must call one, or calls several side by side.
 * Each provider writes it in its own form.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import { isRecord, memberOf, recordOf, ROOT, type JsonRecord, type Located } from '../../schema/located.ts'
import { plainGeminiSettings } from './gemini.ts'
import { plainSetting } from './settings.ts'

const CHOICE = 'tool_choice'
const PARALLEL = 'parallel_tool_calls'

/** Where requests state it, and by what name it is compared. */
const PLACES: readonly (readonly [path: readonly string[], name: string])[] = [
  [['tool_choice'], CHOICE],
  [['toolChoice'], CHOICE],
  [['function_call'], CHOICE],
  [['toolConfig', 'toolChoice'], CHOICE],
  [['toolConfig', 'functionCallingConfig'], CHOICE],
  [['toolConfig', 'function_calling_config'], CHOICE],
  [['tool_config', 'function_calling_config'], CHOICE],
  [['tool_config', 'functionCallingConfig'], CHOICE],
  [['parallel_tool_calls'], PARALLEL],
  [['activeTools'], 'activeTools'],
]

/** By name, without what a provider does anyway. */
export function readToolChoice(root: unknown): ReadonlyMap<string, Located> {
  const whole: Located = { value: root, at: ROOT, document: '' }
  const found = new Map<string, Located>()
  for (const [path, stated] of PLACES) {
    const located = path.reduce<Located | null>((owner, step) => (owner === null ? null : memberOf(owner, step)), whole)
    if (located === null || located.value === null) continue
    const put = (name: string, value: unknown): void => {
      // A second one is compared by its own name: providers differ in which one they take.
      if (value !== null) found.set(found.has(name) ? path.join('.') : name, { ...located, value })
    }
    if (stated === CHOICE) {
      put(CHOICE, plainChoice(located.value))
      if (recordOf(located.value)['disable_parallel_tool_use'] === true) put(PARALLEL, false)
    } else if (stated === PARALLEL) put(PARALLEL, located.value === true ? null : located.value)
    else put(stated, plainSetting(stated, located.value, {}))
  }
  return found
}

/** The same choice at each provider. Without one the model decides. */
const MODES: Readonly<Record<string, string | null>> = lookupTable({
  auto: null,
  mode_unspecified: null,
  any: 'required',
  required: 'required',
  none: 'none',
})

function plainChoice(choice: unknown): unknown {
  if (typeof choice === 'string') return plainMode(choice)
  if (!isRecord(choice)) return choice
  const { disable_parallel_tool_use: _parallel, ...rest } = choice
  const name = chosenTool(rest)
  if (name !== null) return { tool: name }
  const [only, ...others] = Object.keys(rest)
  if (only === undefined) return null
  const mode = only === 'type' || only === 'mode' ? rest[only] : only
  const isPlain = others.length === 0 && typeof mode === 'string' && Object.hasOwn(MODES, mode.toLowerCase())
  return isPlain ? plainMode(mode) : plainSetting(CHOICE, plainGeminiSettings(rest), {})
}

function plainMode(mode: string): string | null {
  const known = mode.toLowerCase()
  return Object.hasOwn(MODES, known) ? (MODES[known] ?? null) : mode
}

/** The tool that must be called: `{"type": "tool", "name": …}`, a function, Bedrock's `{"tool": {"name": …}}`. */
function chosenTool({ type, name, toolName, function: callable, tool, ...others }: JsonRecord): string | null {
  if (Object.keys(others).length > 0) return null
  if (type !== undefined && type !== 'tool' && type !== 'function' && type !== 'custom') return null
  const names = [name, toolName, recordOf(callable)['name'], recordOf(tool)['name']].filter((one) => one !== undefined)
  return names.length === 1 && typeof names[0] === 'string' ? names[0] : null
}
