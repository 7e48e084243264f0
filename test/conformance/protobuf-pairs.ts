/**
 * Pairs of protobuf contracts that differ in one thing each: the changes that protobuf-changes.yaml lists, every type against
 * every other, every cardinality, syntax and file option. What the changes mean is for buf and for us to say.
 */
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { at, listAt, textAt } from '../json.ts'

/** Path → text. `$` in both stands for a package of the pair’s own, so that many pairs can be built together. */
export type ProtoTexts = Readonly<Record<string, string>>

export interface ProtoPair {
  readonly name: string
  readonly before: ProtoTexts
  readonly after: ProtoTexts
}

const SYNTAXES = ['proto2', 'proto3', 'edition 2023', 'edition 2024'] as const
type Syntax = (typeof SYNTAXES)[number]

const HEADS: Readonly<Record<Syntax, string>> = {
  proto2: 'syntax = "proto2";',
  proto3: 'syntax = "proto3";',
  'edition 2023': 'edition = "2023";',
  'edition 2024': 'edition = "2024";',
}

const CHANGES: unknown = load(readFileSync(new URL('protobuf-changes.yaml', import.meta.url), 'utf8'))
/** What fields of any pair may be of. */
const TYPES_BESIDE = textAt(CHANGES, 'types_beside')

function file(syntax: Syntax, body: string): ProtoTexts {
  const beside = syntax.startsWith('edition') ? TYPES_BESIDE.replaceAll('optional ', '') : TYPES_BESIDE
  return { '$/x.proto': `${HEADS[syntax]}\npackage $;\n${body}\n${beside}\n` }
}

/** Every ordered pair of different members. */
function pairsOf<T>(list: readonly T[]): readonly (readonly [T, T])[] {
  return list.flatMap((before) => list.filter((after) => after !== before).map((after) => [before, after] as const))
}

export function protoPairs(): readonly ProtoPair[] {
  return [...listedPairs(), ...syntaxPairs(), ...fileOptionPairs(), ...cardinalityPairs(), ...typePairs()]
}

function listedPairs(): readonly ProtoPair[] {
  const files = SYNTAXES.flatMap((syntax) =>
    listAt(CHANGES, 'within_a_file', syntax).flatMap((row) => {
      const [before, after] = [file(syntax, textAt(row, 'before')), file(syntax, textAt(row, 'after'))]
      return bothWays(`${syntax}: ${textAt(row, 'change')}`, before, after)
    }),
  )
  const sets = listAt(CHANGES, 'in_sets').flatMap((row) =>
    bothWays(`set: ${textAt(row, 'change')}`, textsOf(at(row, 'before')), textsOf(at(row, 'after'))),
  )
  // What is written in a way that readers get wrong is no change to itself: buf builds it, and we read it.
  const texts = listAt(CHANGES, 'read_alike').map((text): ProtoPair => {
    const set = { '$/x.proto': String(text) }
    return { name: `read: ${String(text)}`, before: set, after: set }
  })
  return [...files, ...sets, ...texts]
}

function bothWays(name: string, before: ProtoTexts, after: ProtoTexts): readonly ProtoPair[] {
  return [
    { name, before, after },
    { name: `${name}, back`, before: after, after: before },
  ]
}

function textsOf(set: unknown): ProtoTexts {
  return Object.fromEntries(Object.keys(Object(set)).map((path) => [path, textAt(set, path)]))
}

const ONE_OF_EACH =
  'LABELint32 a = 1; repeated int32 b = 2; LABELstring s = 3; LABELKind k = 4; map<string, string> m = 5;'

function oneOfEach(syntax: Syntax): ProtoTexts {
  return file(syntax, `message M { ${ONE_OF_EACH.replaceAll('LABEL', syntax === 'proto2' ? 'optional ' : '')} }`)
}

function syntaxPairs(): readonly ProtoPair[] {
  return pairsOf(SYNTAXES).map(([before, after]) => ({
    name: `${before} → ${after}`,
    before: oneOfEach(before),
    after: oneOfEach(after),
  }))
}

/** Options of files, with the value that holds where none is stated, and another one. */
const FILE_OPTIONS: readonly (readonly [option: string, fallback: string, other: string])[] = [
  ['cc_enable_arenas', 'true', 'false'],
  ['cc_generic_services', 'false', 'true'],
  ['java_generic_services', 'false', 'true'],
  ['py_generic_services', 'false', 'true'],
  ['java_multiple_files', 'false', 'true'],
  ['java_string_check_utf8', 'false', 'true'],
  ['optimize_for', 'SPEED', 'CODE_SIZE'],
  ['deprecated', 'false', 'true'],
  ['csharp_namespace', '""', '"X"'],
  ['go_package', '""', '"example.com/x"'],
  ['java_outer_classname', '""', '"X"'],
  ['java_package', '""', '"com.example"'],
  ['objc_class_prefix', '""', '"X"'],
  ['php_class_prefix', '""', '"X"'],
  ['php_metadata_namespace', '""', '"X"'],
  ['php_namespace', '""', '"X"'],
  ['ruby_package', '""', '"X"'],
  ['swift_prefix', '""', '"X"'],
]

function fileOptionPairs(): readonly ProtoPair[] {
  const bare = file('proto3', 'message M { string s = 1; }')
  return FILE_OPTIONS.flatMap(([option, fallback, other]) => {
    const stated = (value: string): ProtoTexts =>
      file('proto3', `option ${option} = ${value}; message M { string s = 1; }`)
    return [
      ...bothWays(`option ${option}`, bare, stated(other)),
      ...bothWays(`option ${option} stated as it is`, bare, stated(fallback)),
    ]
  })
}

/** Ways to declare a field of the type T. */
const CARDINALITIES: Readonly<Record<Syntax, readonly string[]>> = {
  proto2: ['optional T f = 1;', 'required T f = 1;', 'repeated T f = 1;', 'oneof choice { T f = 1; }'],
  proto3: ['T f = 1;', 'optional T f = 1;', 'repeated T f = 1;', 'oneof choice { T f = 1; }'],
  'edition 2023': [
    'T f = 1;',
    'T f = 1 [features.field_presence = LEGACY_REQUIRED];',
    'repeated T f = 1;',
    'oneof choice { T f = 1; }',
  ],
  'edition 2024': ['T f = 1;', 'repeated T f = 1;'],
}

function cardinalityPairs(): readonly ProtoPair[] {
  const forms = SYNTAXES.flatMap((syntax) => CARDINALITIES[syntax].map((form) => ({ syntax, form })))
  return ['int32', 'string', 'Other', 'Kind'].flatMap((type) => {
    const textOf = ({ syntax, form }: (typeof forms)[number]): ProtoTexts =>
      file(syntax, `message M { ${form.replace('T', type)} }`)
    return pairsOf(forms).map(([before, after]) => ({
      name: `${type}: ${before.syntax} ${before.form} → ${after.syntax} ${after.form}`,
      before: textOf(before),
      after: textOf(after),
    }))
  })
}

const SCALARS =
  'double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string bytes'.split(' ')
const NAMED = ['Other', 'Another', 'Kind', 'Wider', 'Within.Kind', 'Beside.Kind']
const TYPES = [...SCALARS, ...NAMED, 'map<string, int32>', 'map<string, Other>', 'map<int32, int32>']

function typePairs(): readonly ProtoPair[] {
  return pairsOf(TYPES).map(([before, after]) => ({
    name: `${before} → ${after}`,
    before: file('proto3', `message M { ${before} f = 1; }`),
    after: file('proto3', `message M { ${after} f = 1; }`),
  }))
}
