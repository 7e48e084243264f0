/** An agent of its own process: asks each model named as `CLIENT=BASE` on its command line, and prints what they say, one line of JSON. */
import { MODEL_CLIENTS, type ModelClient } from './model-clients.ts'

const KNOWN: Readonly<Record<string, (base: string) => ModelClient>> = MODEL_CLIENTS
const text: Record<string, readonly string[]> = {}
for (const argument of process.argv.slice(2)) {
  const [name = '', base = ''] = argument.split('=')
  const connect = KNOWN[name]
  if (connect === undefined) throw new Error(`there is no client ${name}`)
  const client = connect(base)
  const whole = await client.ask([{ name: 'list', description: 'Lists.', parameters: ['path'] }])
  const pieces: string[] = []
  for await (const piece of client.stream([{ name: 'list', description: 'Lists.', parameters: ['path'] }]))
    if (piece !== '') pieces.push(piece)
  text[name] = [whole, ...pieces]
}
process.stdout.write(`${JSON.stringify(text)}\n`)
