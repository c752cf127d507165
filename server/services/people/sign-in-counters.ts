import type { HotSql } from "#db/client";
import type { Deps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { hashToken } from "#server/platform/secrets/one-time-token";

/** Limits sign-in attempts across all processes that share a database. */
export type SignInLimiter = {
  /**
   * Counts one attempt. Returns whether it is within `perMinute` attempts per sliding minute; an attempt
   * above the limit is not counted. Throws if the database is unavailable, so no attempt goes uncounted.
   */
  take(counter: string, perMinute: number): Promise<boolean>;
};

/** Dependencies of code that counts sign-in attempts. */
export type LimitedDeps = Deps & { signInLimiter: SignInLimiter };

/**
 * Counts in PostgreSQL with one statement per attempt, which serializes concurrent attempts. Uses the
 * database's clock unless `nowMs` is set. Call it outside of transactions: a rollback must not undo the
 * count.
 */
export function createSignInLimiter(hot: HotSql, nowMs?: () => number): SignInLimiter {
  return {
    async take(counter, perMinute) {
      const at = hot`coalesce(${nowMs?.() ?? null}::float8, extract(epoch from now())::float8 * 1000)`;
      // The counts of the attempt's minute and of the minute before. If the clock steps back, the later
      // minute stays current.
      const count = hot`case when c.minute >= excluded.minute then c.count else 0 end`;
      const previous = hot`case when c.minute >= excluded.minute then c.previous
        when c.minute = excluded.minute - 1 then c.count else 0 end`;
      const shareLeft = hot`1 - (${at}::numeric % 60000) / 60000`;
      const taken = await hot`
        insert into sign_in_counters as c (counter, minute, count, previous)
        values (${hashToken(counter)}, floor(${at} / 60000), 1, 0)
        on conflict (counter) do update
        set minute = greatest(c.minute, excluded.minute), count = ${count} + 1, previous = ${previous}
        where ${count} + floor((${shareLeft}) * (${previous})) < ${perMinute}
        returning 1`;
      return taken.length > 0;
    },
  };
}

/** Counts one attempt. AppError `rate_limited` above `perMinute` attempts per sliding minute. */
export async function requireAttempt(
  { signInLimiter }: { signInLimiter: SignInLimiter },
  counter: string,
  perMinute: number,
): Promise<void> {
  if (!(await signInLimiter.take(counter, perMinute)))
    throw new AppError("rate_limited", "Too many attempts. Wait a minute, then try again.");
}

/** Deletes counters that are too old to limit attempts, up to `limit` of them. */
export async function deleteOldSignInCounters(hot: HotSql, limit: number): Promise<void> {
  await hot`
    delete from sign_in_counters where counter in (
      select counter from sign_in_counters
      where minute < floor(extract(epoch from now()) / 60) - 1 order by minute limit ${limit} for update skip locked)`;
}
