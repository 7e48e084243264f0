/** Expressions about an entry of the decision log: the CEL by which an operator drops and masks entries. */
import { CelScalar, celEnv, mapType, plan } from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import type { Json } from '../common/hash.ts'
import { ok, type Result } from '../common/result.ts'
import { readExpression, tested } from './expression.ts'

export interface EntryExpression {
  /** Never throws; a value that is not true or false is a failure like any other. */
  test(entry: Readonly<Record<string, Json>>): Result<boolean, string>
}

const ENVIRONMENT = celEnv({
  variables: { entry: mapType(CelScalar.STRING, CelScalar.DYN) },
  funcs: strings,
})

/**
 * @param fields members of the variable `entry`
 * @returns the expression, or what is wrong with its text
 */
export function compileEntryExpression(source: string, fields: readonly string[]): Result<EntryExpression, string> {
  const expression = readExpression(source, {
    isFunction: (name) => ENVIRONMENT.funcs.find(name) !== undefined,
    variableFault(name, field) {
      if (name !== 'entry') return `reads ${name}, which does not exist; there is entry`
      if (field === null || fields.includes(field)) return null
      return `reads entry.${field}, which does not exist; there are ${fields.join(', ')}`
    },
  })
  if (!expression.ok) return expression
  const run = plan(ENVIRONMENT, expression.value)
  return ok({ test: (entry) => tested(() => run({ entry: { ...entry } })) })
}
