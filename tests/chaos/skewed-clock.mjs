/*
 * Loaded before anything else of a process: whatever it asks for the time, by `Date` or by what is built on it, is told one
 * that is ahead, or behind. Monotonic time, timers and the database go on as they should.
 */
const aheadMs = Number(process.env.CHAOS_CLOCK_AHEAD_MS);
const TrueDate = Date;
globalThis.Date = class extends TrueDate {
  constructor(...given) {
    if (given.length === 0) super(TrueDate.now() + aheadMs);
    else super(...given);
  }
  static now() {
    return TrueDate.now() + aheadMs;
  }
};
