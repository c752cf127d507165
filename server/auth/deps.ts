import type { RestDeps } from "#server/deps";
import type { SettingFault } from "#server/platform/env/settings";
import type { Examination } from "#server/services/doctor/run";
import type { JoinReads } from "#server/services/live/joined-reads";
import type { Live } from "#server/services/live/watch";
import type { SignInLimiter } from "#server/services/people/sign-in-counters";
import type { ProviderClients } from "./providers";

/** The dependencies of the console in Next.js: those of the REST API, and those of the sign-in. */
export type ConsoleDeps = RestDeps & {
  /** Public origin without a trailing slash. Links and redirects are built only from it. */
  url: string;
  /**
   * The first one encrypts session and device tokens. All of them decrypt, so that sessions survive a new
   * secret.
   */
  authSecrets: () => readonly [string, ...string[]];
  /** Reports changes to open pages. Null where a process can be frozen: the pages poll. */
  live: Live | null;
  /** Joins the identical concurrent reads of open pages. */
  joinReads: JoinReads;
  /**
   * The port at which programs submit email over SMTP, the encrypted one if there are two. Null if there is
   * none.
   */
  submissionPort(): { port: number; isImplicitTls: boolean; hasTls: boolean } | null;
  /** Checks the installation and its surroundings. */
  examine(): Promise<Examination>;
  /** Limits sign-in attempts across all processes. If it is unavailable, sign-in fails. */
  signInLimiter: SignInLimiter;
  /** The OAuth providers that are configured for sign-in. */
  providers: ProviderClients;
  /**
   * Called on a visit while there are no users, in case startup has not prepared the first user. It creates
   * the user from the configuration, or writes a setup code for the first user to the log.
   */
  prepareFirstUser(): Promise<void>;
  /**
   * The header in which the process that owns the socket passes the client's IP address; null if there is
   * none.
   */
  peerHeader: string | null;
};

// Next.js bundles server code separately, so it shares no modules with its host process, only the global
// object.
const SLOT = Symbol.for("backstamp.deps");
const FAULTS = Symbol.for("backstamp.setting-faults");
const slot = globalThis as { [SLOT]?: ConsoleDeps; [FAULTS]?: readonly SettingFault[] };

/** Stores the dependencies where the Next.js bundle can read them. A later call replaces them. */
export function provideConsoleDeps(deps: ConsoleDeps): void {
  slot[SLOT] = deps;
}

export const hasConsoleDeps = (): boolean => slot[SLOT] !== undefined;

/** The stored dependencies. Throws if startup has not stored them, which is a bug. */
export function getConsoleDeps(): ConsoleDeps {
  const deps = slot[SLOT];
  if (!deps) throw new Error("no dependencies were provided before the first request");
  return deps;
}

/** Stores why there are no dependencies: the settings are not valid. */
export function provideSettingFaults(faults: readonly SettingFault[]): void {
  slot[FAULTS] = faults;
}

/** The invalid settings, because of which there are no dependencies; null if there are none. */
export const getSettingFaults = (): readonly SettingFault[] | null => slot[FAULTS] ?? null;
