import type { IncomingMessage } from "node:http";
import type { ProviderClients } from "#server/auth/provider-clients";
import { heldDeps, holdDeps } from "#server/console-deps";
import type { RestDeps } from "#server/deps";
import { createInProcessStore } from "#server/limits/in-process";
import { deriveKey } from "#server/secrets";

const PEER_HEADER = "x-posthorn-peer";

type Given = {
  url: string;
  secret: string;
  providers?: ProviderClients;
  prepareFirstUser?: () => Promise<void>;
};

/** The effects of this process, for Next's route files. Throws before they were provided. */
export const getDeps = heldDeps;

/**
 * Hands the launcher's effects to Next, which runs in the same process but loads code of its own. To be called before
 * Next answers its first request. `url` is the public origin, `secret` the installation's, `providers` those by which people may sign in.
 */
export function provideDeps(rest: RestDeps, given: Given): void {
  hold(rest, given, PEER_HEADER);
}

/**
 * Writes the address at the other end of the socket where Next's handlers find it, over whatever the client put there.
 * To be called for every request that goes to Next.
 */
export function markPeer(incoming: IncomingMessage): void {
  incoming.headers[PEER_HEADER] = incoming.socket.remoteAddress ?? "";
}

/** Leaves them for Next's handlers. `peerHeader` is null where nobody marks requests. */
export function hold(rest: RestDeps, given: Given, peerHeader: string | null): void {
  // next-auth takes its own address from here, and from a header that clients write where this is missing.
  process.env.NEXTAUTH_URL = given.url;
  holdDeps({
    ...rest,
    url: given.url,
    authSecret: deriveKey(given.secret, "next-auth"),
    signInTries: createInProcessStore(() => rest.clock().getTime()),
    providers: given.providers ?? {},
    prepareFirstUser: given.prepareFirstUser ?? (async () => {}),
    peerHeader,
  });
}
