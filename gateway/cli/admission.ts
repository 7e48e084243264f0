/**
 * `preflight admission`: tries the rules of a Kubernetes route on a review without a cluster, and prints the digest that a
 * receipt for the content of an object names.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isJsonObject } from '../json/strict-json.ts'
import { EXIT, InputError, type Arguments, type Command, type CommandGroup } from './command.ts'
import { CONFIG_OPTION, configSource } from './config-option.ts'
import { strictJsonOf, textFile } from './documents.ts'
import { readStream, writeLine, type CommandIo } from './io.ts'

const test: Command = {
  name: 'test',
  summary: 'Answer an AdmissionReview as the gateway would, without a cluster and without a gateway.',
  operands: 'REVIEW.json|-',
  operandCount: [1, 1],
  options: [
    CONFIG_OPTION,
    { name: 'route', value: 'NAME', help: 'Name of the kubernetes route; the only one by default.' },
  ],
  notes: [
    'Receipts of the gateway are unknown here, so a write that needs one is denied. The answer names what it must be for.',
    '',
    'Exit codes: 0 allowed, 1 denied, 2 usage or configuration, 3 could not be judged.',
  ].join('\n'),
  run: async (args, io) => {
    const { tryReview } = await import('./admission-trial.ts')
    const directory = mkdtempSync(join(tmpdir(), 'preflight-admission-'))
    try {
      const source = configSource(args, io)
      const environment = { ...source.environment, PREFLIGHT_DATA_DIR: directory }
      const review = await documentOf(args, io)
      const answer = await tryReview({ ...source, environment }, review, args.value('route'))
      if (!answer.ok) throw new InputError(answer.problem)
      writeLine(io.stdout, JSON.stringify(answer.review, null, 2))
      if (answer.response.allowed) return EXIT.good
      return (answer.response.status?.code ?? 0) >= 500 ? EXIT.undecided : EXIT.no
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  },
}

const digest: Command = {
  name: 'digest',
  summary: 'Print the digest of an object, for context.head of a preflight (kubernetes.receipt_binds: content).',
  operands: 'OBJECT.json|-',
  operandCount: [1, 1],
  options: [],
  notes:
    'The object must be complete, with the defaults of the API server: kubectl apply --dry-run=server -o json -f FILE.',
  run: async (args, io) => {
    const { contentDigest } = await import('../protocols/kubernetes/change.ts')
    const object = await documentOf(args, io)
    if (!isJsonObject(object)) throw new InputError('the document is not an object')
    writeLine(io.stdout, contentDigest(object))
    return EXIT.good
  },
}

export const admissionGroup: CommandGroup = {
  name: 'admission',
  summary: 'Try the rules for writes to a Kubernetes API server.',
  commands: [test, digest],
}

async function documentOf(args: Arguments, io: CommandIo): Promise<unknown> {
  const [name = '-'] = args.operands
  const text = name === '-' ? await readStream(io.stdin) : textFile(name)
  return strictJsonOf(text, name === '-' ? 'standard input' : name)
}
