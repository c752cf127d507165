import type { Breakdown } from "../judge";

export type LoginGate = ReturnType<typeof createLoginGate>;

/** `null` on success. `isRejection`: the server rejected the credentials. */
export type LoginResult = { breakdown: Breakdown; isRejection: boolean } | null;

/**
 * Limits logins with rejected credentials: logins run one at a time, and after a rejected login none runs for
 * `pauseMs`. A login whose connection was lost before the reply does not count.
 */
export function createLoginGate(pauseMs: number) {
  let last: Breakdown | null = null;
  let previous: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const runLogin = async (login: () => Promise<LoginResult>): Promise<Breakdown | null> => {
    if (last !== null) return last;
    const result = await login();
    if (result === null) return null;
    if (result.isRejection) {
      last = result.breakdown;
      timer = setTimeout(() => {
        last = null;
      }, pauseMs);
      timer.unref();
    }
    return result.breakdown;
  };

  return {
    /** The last rejection during the pause, else `null`. */
    rejection: () => last,
    /**
     * Runs a login after the logins before it. During a pause it returns the last rejection and does not run
     * the login.
     */
    run(login: () => Promise<LoginResult>): Promise<Breakdown | null> {
      const result = previous.then(() => runLogin(login));
      previous = result.catch(() => {});
      return result;
    },
    close: () => clearTimeout(timer),
  };
}
