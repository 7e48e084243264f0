/** `preflight policy`: checks policy packs before they are in force. */
import { formatMistake } from '../config/mistake.ts'
import { loadPolicy } from '../config/policy.ts'
import { EXIT, type Command, type CommandGroup } from './command.ts'
import { LIST_FORMAT, show } from './format.ts'

const lint: Command = {
  name: 'lint',
  summary: 'Check a policy pack: every mistake with its line and column.',
  operands: 'PACK',
  operandCount: [1, 1],
  options: [LIST_FORMAT],
  notes: 'PACK: the path of a pack.yaml, or the name of a shipped pack.\nExit codes: 0 it loads, 1 it has mistakes.',
  run: (args, io) => {
    const [name = ''] = args.operands
    const loaded = loadPolicy(name, '.')
    if (loaded.ok) {
      const { policy, file } = loaded.value
      const view = { name: policy.name, mode: policy.mode, hash: policy.hash, on_incomplete: policy.onIncomplete, file }
      show(args, io, { ok: true, ...view, mistakes: [] }, () => `${file}: good; policy ${policy.name}, ${policy.hash}`)
      return Promise.resolve(EXIT.good)
    }
    show(args, io, { ok: false, mistakes: loaded.problem }, ({ mistakes }) => mistakes.map(formatMistake).join('\n'))
    return Promise.resolve(EXIT.no)
  },
}

export const policyGroup: CommandGroup = {
  name: 'policy',
  summary: 'Check policy packs.',
  commands: [lint],
}
