/** Texts that the AsyncAPI rows share. */
export const NOTHING_TO_DO = 'Nothing needs to be done.'
export const STILL_WORKS = 'What the other sides use goes on working.'
export const TOGETHER = 'Change both sides together.'
export const KEEP = 'Keep it beside its successor until nobody uses it any more.'
