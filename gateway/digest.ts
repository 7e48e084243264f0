/** The hash function that the gateway hands to the engine. */
import { hash } from 'node:crypto'
import type { Sha256 } from '../engine/index.ts'

/** SHA-256 of the UTF-8 bytes of a text, 64 lowercase hex digits; one-shot, so nothing is allocated but the digest. */
export const sha256: Sha256 = (text) => hash('sha256', text, 'hex')
