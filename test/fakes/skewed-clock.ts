/** Loaded before the program: its clock is ahead by TEST_CLOCK_AHEAD milliseconds, as on a machine without time synchronisation. */
const ahead = Number(process.env['TEST_CLOCK_AHEAD'] ?? 0)
const real = Date.now

Date.now = () => real() + ahead
