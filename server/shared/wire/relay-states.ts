/** How a relay's state is derived; `pausedUntil` and `lastFault` as in the database or as JSON. */
type Facts = {
  pausedUntil: unknown;
  pauseReason: string | null;
  lastFault: string | null;
  failures: number;
};

export type RelayState = keyof typeof RELAY_STATES;

/** The states of a relay, in the words of the console and the command line. */
export const RELAY_STATES = {
  healthy: "Healthy",
  /** It carries email, and had faults since its last success. */
  unstable: "Unstable",
  /** Its last test failed. It carries no email and is tested once a minute. */
  failing: "Failing",
  /** New, or with a new login. It carries no email until a test succeeds. */
  untested: "Not tested",
  /** By the operator. */
  paused: "Paused",
} as const;

/** Only healthy and unstable relays carry email. */
export function stateOfRelay({ pausedUntil, pauseReason, lastFault, failures }: Facts): RelayState {
  if (pauseReason !== null) return "paused";
  if (pausedUntil !== null) return lastFault === null ? "untested" : "failing";
  return failures > 0 ? "unstable" : "healthy";
}
