/** A policy document → CompiledPolicy, or every mistake in it with its JSON Pointer. */
import type { Sha256 } from '../hash.ts'
import type { Problem, Result } from '../result.ts'
import type { CompiledPolicy } from './policy.ts'

export declare function compilePolicy(source: unknown, sha256: Sha256): Result<CompiledPolicy, readonly Problem[]>
