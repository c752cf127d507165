import type { IncomingMessage } from "node:http";
import { type ConsoleDeps, getConsoleDeps, provideConsoleDeps } from "#server/auth/deps";
import type { ProviderClients } from "#server/auth/providers";
import type { RestDeps } from "#server/deps";
import type { RingKey } from "#server/platform/secrets/keyring";
import { deriveKey } from "#server/platform/secrets/secrets";
import type { Examination } from "#server/services/doctor/run";
import { createJoinedReads } from "#server/services/live/joined-reads";
import type { Live } from "#server/services/live/watch";
import { createSignInLimiter } from "#server/services/people/sign-in-counters";

const PEER_HEADER = "x-backstamp-peer";

type Given = {
  url: string;
  examine: () => Promise<Examination>;
  live?: Live;
  submissionPort?: ConsoleDeps["submissionPort"];
  providers?: ProviderClients;
  prepareFirstUser?: () => Promise<void>;
};

/** The dependencies of this process, for Next's route files. Throws if they are not provided yet. */
export const getDeps = getConsoleDeps;

/**
 * Sets the header with the client's socket address for Next's handlers. It overwrites a value sent by the
 * client. Call it for each request that Next handles.
 */
export function setPeerHeader(incoming: IncomingMessage): void {
  incoming.headers[PEER_HEADER] = incoming.socket.remoteAddress ?? "";
}

/**
 * Provides the dependencies to Next, which loads its own copies of modules even in the launcher's process.
 * Call it before Next handles its first request. `url` is the public origin, `providers` the configured
 * sign-in providers. `peerHeader` is null where no server sets the peer header.
 */
export function provideDeps(rest: RestDeps, given: Given, peerHeader: string | null = PEER_HEADER): void {
  // next-auth reads its own URL from this variable. Without it, next-auth uses a header that the client
  // controls.
  process.env.NEXTAUTH_URL = given.url;
  provideConsoleDeps({
    ...rest,
    url: given.url,
    examine: given.examine,
    live: given.live ?? null,
    joinReads: createJoinedReads(),
    submissionPort: given.submissionPort ?? (() => null),
    authSecrets: () => authSecretsOf(rest.keyring),
    signInLimiter: createSignInLimiter(rest.hot),
    providers: given.providers ?? {},
    prepareFirstUser: given.prepareFirstUser ?? (async () => {}),
    peerHeader,
  });
}

/**
 * The active secret first: a process that does not know a newer one yet must read the tokens of the others.
 */
function authSecretsOf({ keys, active }: RestDeps["keyring"]): [string, ...string[]] {
  const current = active();
  const secretOf = ({ secret }: RingKey) => deriveKey(secret, "next-auth");
  return [secretOf(current), ...keys.filter((key) => key !== current).map(secretOf)];
}
