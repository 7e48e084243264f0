/** `preflight completion`: scripts that complete commands, options and their values, made from the table that the help comes from. */
import { EXIT, UsageError, type Command, type CommandGroup } from './command.ts'
import { writeLine } from './io.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** @param load every command, which is loaded for the script only */
export function completionCommand(load: () => Promise<readonly (Command | CommandGroup)[]>): Command {
  return {
    name: 'completion',
    summary: 'Print a script that completes commands and options in a shell.',
    operands: SHELLS.join('|'),
    operandCount: [1, 1],
    options: [],
    notes: [
      'bash: preflight completion bash > /etc/bash_completion.d/preflight, or add to ~/.bashrc: eval "$(preflight completion bash)"',
      'zsh:  add to ~/.zshrc, after compinit: eval "$(preflight completion zsh)"',
      'fish: preflight completion fish > ~/.config/fish/completions/preflight.fish',
    ].join('\n'),
    run: async ({ operands: [name = ''] }, io) => {
      const shell = SHELLS.find((known) => known === name)
      if (shell === undefined) throw new UsageError(`there is no completion for ${name}; shells: ${SHELLS.join(', ')}`)
      writeLine(io.stdout, SCRIPTS[shell](completionWords(await load())))
      return EXIT.good
    },
  }
}

/** What may follow some words. */
interface CompletionWords {
  /** `preflight approvals list`. */
  readonly path: string
  /** Commands and options. */
  readonly next: readonly Candidate[]
}

interface Candidate {
  readonly word: string
  readonly help: string
  /** Values of an option; empty: files, or any text. Null: it takes no value. */
  readonly values: readonly string[] | null
}

function completionWords(entries: readonly (Command | CommandGroup)[]): readonly CompletionWords[] {
  const top = entries.map(({ name, summary }) => ({ word: name, help: summary, values: null }))
  return [
    { path: 'preflight', next: top },
    ...entries.flatMap((entry): readonly CompletionWords[] => {
      const path = `preflight ${entry.name}`
      if (!('commands' in entry)) return [{ path, next: optionsOf(entry) }]
      const names = entry.commands.map(({ name, summary }) => ({ word: name, help: summary, values: null }))
      const direct = entry.direct === undefined ? [] : optionsOf(entry.direct)
      return [
        { path, next: [...names, ...direct] },
        ...entry.commands.map((command) => ({ path: `${path} ${command.name}`, next: optionsOf(command) })),
      ]
    }),
  ]
}

function optionsOf({ options }: Command): readonly Candidate[] {
  return [
    ...options.map(({ name, value, allowed = [], help }) => ({
      word: `--${name}`,
      help,
      values: value === undefined ? null : allowed,
    })),
    { word: '--help', help: 'Show the help.', values: null },
  ]
}

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], (words: readonly CompletionWords[]) => string>> = {
  bash: bashScript,
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(words)}`,
  fish: fishScript,
}

/** The words before the cursor choose a row; a word before that takes a value chooses its values, or files. */
function bashScript(words: readonly CompletionWords[]): string {
  const next = words.map(({ path, next: list }) => `    '${path}') echo '${list.map(({ word }) => word).join(' ')}' ;;`)
  const values = words.flatMap(({ path, next: list }) =>
    list.flatMap((candidate) =>
      candidate.values === null ? [] : [`    '${path} ${candidate.word}') echo '${candidate.values.join(' ')}' ;;`],
    ),
  )
  return `# Completion of preflight; made by: preflight completion
_preflight_next() {
  case "$1" in
${next.join('\n')}
  esac
}
_preflight_values() {
  case "$1" in
${values.join('\n')}
    *) return 1 ;;
  esac
}
_preflight() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path=preflight word index values
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case " $(_preflight_next "$path") " in *" $word "*) case "$word" in -*) ;; *) path="$path $word" ;; esac ;; esac
  done
  COMPREPLY=()
  if [ "$COMP_CWORD" -gt 1 ] && values=$(_preflight_values "$path \${COMP_WORDS[COMP_CWORD - 1]}"); then
    if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$current"))
    else COMPREPLY=($(compgen -f -- "$current")); fi
    return
  fi
  COMPREPLY=($(compgen -W "$(_preflight_next "$path")" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _preflight preflight
`
}

function fishScript(words: readonly CompletionWords[]): string {
  const lines = words.flatMap(({ path, next }) => {
    const [, ...names] = path.split(' ')
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`)
    const subcommands = next.filter(({ word }) => !word.startsWith('--')).map(({ word }) => word)
    const unseen = subcommands.length === 0 ? [] : [`not __fish_seen_subcommand_from ${subcommands.join(' ')}`]
    const condition = [...seen, ...unseen].join('; and ')
    return next.map(({ word, help, values }) => {
      const shown = `complete -c preflight -n ${fishQuoted(condition)} -d ${fishQuoted(help)}`
      if (!word.startsWith('--')) return `${shown} -f -a ${word}`
      const taken = values === null ? '' : values.length === 0 ? ' -r' : ` -x -a ${fishQuoted(values.join(' '))}`
      return `${shown} -l ${word.slice(2)}${taken}`
    })
  })
  return `# Completion of preflight; made by: preflight completion\n${lines.join('\n')}\n`
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
