/*
 * Loaded before anything else of a process: `Date`, and what is built on it, is ahead or behind. Monotonic
 * time, timers and the database remain correct.
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
