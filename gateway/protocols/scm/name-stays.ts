/** For the sender of a request that would delete a protected branch or tag: why it is refused, and what to do. */
export const NAME_STAYS =
  'a protected branch or tag is not deleted here, because its name could be made again at any commit; move it, or delete it at the platform'
