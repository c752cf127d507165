import type { IncomingMessage } from "node:http";
import { type ConsoleDeps, getConsoleDeps, getSettingFaults, provideConsoleDeps } from "#server/auth/deps";
import type { ProviderClients } from "#server/auth/providers";
import type { RestDeps } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { addressBucket } from "#server/platform/limits/address-bucket";
import type { RingKey } from "#server/platform/secrets/keyring";
import { deriveKey } from "#server/platform/secrets/secrets";
import { limitHeaders, respondToError, toAppError } from "#server/rest/pipeline/respond";
import { rejectUnconfigured } from "#server/rest/pipeline/unconfigured";
import type { Examination } from "#server/services/doctor/run";
import { ONLY_LINKS } from "#server/services/domains/served-hosts";
import { createJoinedReads } from "#server/services/live/joined-reads";
import type { Live } from "#server/services/live/watch";
import { createSignInLimiter } from "#server/services/people/sign-in-counters";
import { LIMIT_PER_MINUTE } from "#server/shared/rate-limits";

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
 * Answers a call of the console or of its sign-in. Like every response below `/api`, it has the rate-limit
 * headers; they report the bucket of the client's address, which such a call does not consume. Never throws.
 */
export async function answerConsoleCall(
  request: Request,
  answer: (deps: ConsoleDeps) => Promise<Response>,
): Promise<Response> {
  const faults = getSettingFaults();
  if (faults) return rejectUnconfigured(request, faults, Date.now());
  const deps = getDeps();
  const peer = deps.peerHeader === null ? null : request.headers.get(deps.peerHeader);
  const bucket = addressBucket(request.headers, peer ?? undefined, deps.trustedHops);
  const verdict = await deps.limits.peek(bucket, "other", LIMIT_PER_MINUTE.other);
  const limits = limitHeaders(verdict, deps.clock().getTime());
  try {
    if (await deps.findServedHost(request.headers.get("host"))) throw new AppError("not_found", ONLY_LINKS);
    const response = await answer(deps);
    for (const [name, value] of Object.entries(limits)) response.headers.set(name, value);
    return response;
  } catch (thrown) {
    const requestId = newId();
    return respondToError(request, await toAppError(thrown, deps, requestId), requestId, limits);
  }
}

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
