/**
 * The meaning of changes of the texts in an MCP manifest. A model reads and follows descriptions and instructions, so
 * they are part of the contract like a schema.
 */
import { NOTHING_TO_DO, type McpRows } from './row.ts'

const SAME_MEANING = 'The words changed, not what they ask of a model.'
const REVIEW_WORDS = 'Read the change word by word; accept it by promoting the new manifest, or have it taken back.'
const ASK_OWNER = 'Do not accept the manifest before the owner of the server has explained the text.'
const MODEL_READS =
  'A model follows these words when it decides whether and how to call: another text is another instruction.'
const POISON =
  'Text in a tool manifest goes straight into a model’s context. This kind of text is how servers take over agents.'

export const TEXT_ROWS = {
  'mcp-description-changed': {
    level: 'dangerous',
    direction: 'none',
    area: 'texts',
    kind: 'description',
    action: 'changed',
    effect: 'may-narrow',
    sentence: '{name} changed: {detail}',
    why: MODEL_READS,
    fix: REVIEW_WORDS,
  },
  'mcp-description-reworded': {
    level: 'info',
    direction: 'none',
    area: 'texts',
    kind: 'description',
    action: 'changed',
    effect: 'none',
    sentence: '{name} reads differently: {detail}',
    why: SAME_MEANING,
    fix: NOTHING_TO_DO,
  },
  'mcp-instructions-changed': {
    level: 'dangerous',
    direction: 'none',
    area: 'texts',
    kind: 'instructions',
    action: 'changed',
    effect: 'may-narrow',
    sentence: 'the instructions of the server changed: {detail}',
    why: 'Hosts put the server’s instructions into the system prompt: they steer every call, not only calls of this server.',
    fix: REVIEW_WORDS,
  },
  'mcp-instructions-reworded': {
    level: 'info',
    direction: 'none',
    area: 'texts',
    kind: 'instructions',
    action: 'changed',
    effect: 'none',
    sentence: 'the instructions of the server were reworded: {detail}',
    why: SAME_MEANING,
    fix: NOTHING_TO_DO,
  },
  'mcp-text-hidden-characters': {
    level: 'breaking',
    direction: 'none',
    area: 'texts',
    kind: 'poisoning',
    action: 'added',
    effect: 'moves',
    sentence: '{name} holds characters that people do not see and models read: {detail}',
    why: POISON,
    fix: ASK_OWNER,
  },
  'mcp-text-lookalike-letters': {
    level: 'breaking',
    direction: 'none',
    area: 'texts',
    kind: 'poisoning',
    action: 'added',
    effect: 'moves',
    sentence: '{name} holds words in letters of two alphabets that look like one: {detail}',
    why: POISON,
    fix: ASK_OWNER,
  },
  'mcp-text-override-phrase': {
    level: 'breaking',
    direction: 'none',
    area: 'texts',
    kind: 'poisoning',
    action: 'added',
    effect: 'moves',
    sentence: '{name} tells the model to set its instructions aside or to keep something from the user: {detail}',
    why: POISON,
    fix: ASK_OWNER,
  },
  'mcp-text-exfiltration-target': {
    level: 'breaking',
    direction: 'none',
    area: 'texts',
    kind: 'poisoning',
    action: 'added',
    effect: 'moves',
    sentence: '{name} mentions secrets, or asks to send what the model knows somewhere: {detail}',
    why: POISON,
    fix: ASK_OWNER,
  },
  'mcp-text-encoded-payload': {
    level: 'dangerous',
    direction: 'none',
    area: 'texts',
    kind: 'poisoning',
    action: 'added',
    effect: 'moves',
    sentence: '{name} holds an encoded text: {detail}',
    why: POISON,
    fix: ASK_OWNER,
  },
  'mcp-text-steers-other-tool': {
    level: 'dangerous',
    direction: 'none',
    area: 'texts',
    kind: 'poisoning',
    action: 'added',
    effect: 'moves',
    sentence: '{name} tells the model what to do with another tool: {detail}',
    why: POISON,
    fix: ASK_OWNER,
  },
} as const satisfies McpRows
