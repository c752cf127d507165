import type { Breakdown } from "./judge";

/**
 * Keeps us from hammering a server with credentials it refuses: logins go one after another, and after a refused one
 * there is none for `pauseMs`. A login that broke off without a verdict does not count.
 */
export type LoginGate = {
  /** The last refusal while the pause lasts, else `null`. */
  refusal(): Breakdown | null;
  /** Runs a login when its turn comes; during a pause it gives the last refusal without running it. */
  pass(login: () => Promise<LoginResult>): Promise<Breakdown | null>;
  close(): void;
};

/** `null` when it went well; `isRefusal` when the server's answer was no. */
export type LoginResult = { breakdown: Breakdown; isRefusal: boolean } | null;

export function createLoginGate(pauseMs: number): LoginGate {
  let last: Breakdown | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const run = async (login: () => Promise<LoginResult>): Promise<Breakdown | null> => {
    if (last !== null) return last;
    const result = await login();
    if (result === null) return null;
    if (result.isRefusal) {
      last = result.breakdown;
      timer = setTimeout(() => {
        last = null;
      }, pauseMs);
      timer.unref();
    }
    return result.breakdown;
  };

  return {
    refusal: () => last,
    pass(login) {
      const mine = turn.then(() => run(login));
      turn = mine.catch(() => {});
      return mine;
    },
    close: () => clearTimeout(timer),
  };
}
