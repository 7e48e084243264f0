/** Explains, by direction and effect, why a change breaks, whom it breaks, and how to avoid that. */
import type { Effect, Rule, Variance } from './rule.ts'

export interface Advice {
  readonly explanation: string
  readonly fix: string
}

const HARMLESS_FIX = 'Nothing needs to be done.'

const ADVICE: Readonly<Record<Variance, Readonly<Record<Effect, Advice>>>> = {
  request: {
    narrows: {
      explanation: 'Callers that send what was valid until now will be refused.',
      fix: 'Go on accepting the old form beside the new one, or publish the change as a new version and deprecate this one.',
    },
    'may-narrow': {
      explanation:
        'Callers whose requests fall outside the new limit will be refused; whether any do cannot be seen from the contract.',
      fix: 'Check the requests that callers really send, or go on accepting what was valid.',
    },
    widens: { explanation: 'Whatever callers sent until now is still valid.', fix: HARMLESS_FIX },
    'may-widen': { explanation: 'Whatever callers sent until now is still valid.', fix: HARMLESS_FIX },
    moves: {
      explanation: 'Requests that were valid until now may be refused or understood differently.',
      fix: 'Add the new form beside the old one, and deprecate the old one before it goes.',
    },
    none: { explanation: 'The change does not decide which requests are valid.', fix: HARMLESS_FIX },
  },
  response: {
    narrows: { explanation: 'Readers receive nothing that they did not have to expect before.', fix: HARMLESS_FIX },
    'may-narrow': {
      explanation: 'Readers receive nothing that they did not have to expect before.',
      fix: HARMLESS_FIX,
    },
    widens: {
      explanation: 'Readers of the old contract may receive values that they cannot read, or miss what they need.',
      fix: 'Keep to the old form for existing readers, or publish the change as a new version and deprecate this one.',
    },
    'may-widen': {
      explanation: 'Readers of the old contract may fail when they receive the new form. A tolerant reader does not.',
      fix: 'Tell readers before the change takes effect, or keep the old form until they are ready.',
    },
    moves: {
      explanation: 'Readers of the old form will misread or reject what they receive.',
      fix: 'Add the new form beside the old one, and deprecate the old one before it goes.',
    },
    none: { explanation: 'The change does not decide what readers receive.', fix: HARMLESS_FIX },
  },
  none: {
    narrows: {
      explanation: 'Clients that use what is gone or restricted will fail.',
      fix: 'Keep it, or deprecate it with a sunset day and remove it after that day.',
    },
    'may-narrow': {
      explanation: 'Clients may fail, depending on how they use the interface.',
      fix: 'Check how clients use it before the change takes effect.',
    },
    widens: { explanation: 'What clients use goes on working.', fix: HARMLESS_FIX },
    'may-widen': {
      explanation: 'Clients may fail, depending on how they use the interface.',
      fix: 'Check how clients use it before the change takes effect.',
    },
    moves: {
      explanation: 'What was promised to clients about the life of the interface is not kept.',
      fix: 'Correct the statement in the contract, or give clients the time that was promised.',
    },
    none: { explanation: 'What clients use goes on working.', fix: HARMLESS_FIX },
  },
  shared: {
    narrows: {
      explanation: 'What was written to the old contract, and may be stored or on its way, is no longer valid.',
      fix: 'Go on admitting the old form beside the new one, or publish the change as a new version and migrate to it.',
    },
    'may-narrow': {
      explanation:
        'What was written to the old contract may no longer be valid, or no longer be kept; whether it is cannot be seen from the contract.',
      fix: 'Check what is stored and written before the change takes effect.',
    },
    widens: {
      explanation: 'What was valid still is, but readers may receive values that they did not have to expect.',
      fix: 'Tell readers before writers use the new form.',
    },
    'may-widen': {
      explanation: 'What was valid still is, but readers may receive values that they did not have to expect.',
      fix: 'Tell readers before writers use the new form.',
    },
    moves: {
      explanation: 'What was written to the old contract is refused or misread, and readers miss what they need.',
      fix: 'Add the new form beside the old one, and deprecate the old one before it goes.',
    },
    none: { explanation: 'The change decides neither what is valid nor what readers must expect.', fix: HARMLESS_FIX },
  },
}

/** The effect whose fix fits a rule that is stricter than direction and effect make it. */
const RISK: Readonly<Record<Variance, Effect>> = {
  request: 'may-narrow',
  response: 'may-widen',
  none: 'may-narrow',
  shared: 'may-narrow',
}

/** `variance` differs from the rule's direction for rules about shared schemas. */
export function adviceOf(rule: Rule, variance: Variance = rule.direction): Advice {
  const own = ADVICE[variance][rule.effect]
  const isStricter = rule.level !== 'info' && own.fix === HARMLESS_FIX
  const advice = isStricter ? { ...own, fix: ADVICE[variance][RISK[variance]].fix } : own
  return rule.because === null ? advice : { ...advice, explanation: rule.because }
}
