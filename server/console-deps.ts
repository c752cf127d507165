import type { ProviderClients } from "#server/auth/provider-clients";
import type { InProcessStore } from "#server/limits/in-process";
import type { RestDeps } from "./deps";

/** What Next's side of a process needs: the effects of the REST door, and what signing in hangs on. */
export type ConsoleDeps = RestDeps & {
  /** Public origin, without a slash at the end. Links and redirects are built from it alone. */
  url: string;
  /** Encrypts the session token. */
  authSecret: string;
  /** Counts tries to sign in, in this process: a shared store that is away must not open the door to guessing. */
  signInTries: InProcessStore;
  /** Where people may sign in by an account that they have elsewhere. */
  providers: ProviderClients;
  /**
   * Called when somebody comes while nobody is a user: where no launcher has done so at its start, it makes the one whom the
   * settings name, or writes a code to the log by which whoever reads it becomes the first.
   */
  prepareFirstUser(): Promise<void>;
  /** The header in which whoever owns the socket tells the address at its other end, or null where nobody does. */
  peerHeader: string | null;
};

// Next bundles server code by itself, so modules are not shared with the process that hosts it; the global object is.
const SLOT = Symbol.for("posthorn.deps");
const slot = globalThis as { [SLOT]?: ConsoleDeps };

/** Leaves the effects where Next's bundle finds them. A later call replaces them. */
export function holdDeps(deps: ConsoleDeps): void {
  slot[SLOT] = deps;
}

export const areDepsHeld = (): boolean => slot[SLOT] !== undefined;

/** The effects that were left. Throws before that: a start that forgot them is a bug. */
export function heldDeps(): ConsoleDeps {
  const deps = slot[SLOT];
  if (!deps) throw new Error("no effects were provided before the first request");
  return deps;
}
