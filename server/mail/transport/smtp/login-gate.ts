import type { Breakdown } from "../judge";

/**
 * Limits logins with rejected credentials: logins run one at a time, and after a rejected login none runs for `pauseMs`. A
 * login whose connection was lost before the reply does not count.
 */
export type LoginGate = {
  /** The last rejection during the pause, else `null`. */
  rejection(): Breakdown | null;
  /** Runs a login after the logins before it. During a pause it returns the last rejection and does not run the login. */
  run(login: () => Promise<LoginResult>): Promise<Breakdown | null>;
  close(): void;
};

/** `null` on success. `isRejection`: the server rejected the credentials. */
export type LoginResult = { breakdown: Breakdown; isRejection: boolean } | null;

export function createLoginGate(pauseMs: number): LoginGate {
  let last: Breakdown | null = null;
  let turn: Promise<unknown> = Promise.resolve();
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
    rejection: () => last,
    run(login) {
      const result = turn.then(() => runLogin(login));
      turn = result.catch(() => {});
      return result;
    },
    close: () => clearTimeout(timer),
  };
}
