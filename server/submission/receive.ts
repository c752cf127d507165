import type { RestDeps } from "#server/deps";
import { AppError, rejectionOf, rejectScope } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { findStoredResponse } from "#server/services/emails/accept/idempotency";
import { IdempotencyKeyTaken, sendEmail } from "#server/services/emails/accept/send";
import type { KnownKey } from "#server/services/keys/cache";
import { LIMIT_PER_MINUTE } from "#server/shared/rate-limits";
import { PARSE_SUBMISSION, type Submission } from "./message";
import { toAppError } from "./replies";

/** The parts of the API's dependencies that submission uses. */
export type SubmissionDeps = Omit<
  RestDeps,
  | "tick"
  | "cronSecret"
  | "metricsToken"
  | "getReadiness"
  | "renderMetrics"
  | "inboundToken"
  | "formerInboundTokens"
  | "trustedHops"
>;

/** One message in progress. `agent`: the name that the client sent in EHLO. */
export type Arrival = { key: KnownKey; token: string; agent: string | null; requestId: string };

/** A message stream of the SMTP library. */
type MessageStream = AsyncIterable<Buffer>;

const TIER = "POST /api/emails";
const SCOPE = "emails:send";
const blockBytes = 64 * 1024;
const readMsMax = 60_000;

/**
 * Counts one message of a key, like one `POST /api/emails`, and checks that the key may send. Returns the
 * message's arrival. 429 over the limit, 403 without the scope.
 */
export async function admitMessage(
  deps: SubmissionDeps,
  { key, token, agent }: Omit<Arrival, "requestId">,
): Promise<Arrival> {
  const arrival = { key, token, agent, requestId: newId() };
  try {
    const verdict = await deps.limits.take(key.id, TIER, key.limits[TIER] ?? LIMIT_PER_MINUTE[TIER]);
    if (!verdict.allowed)
      throw new AppError("rate_limited", "Rate limit exceeded", {
        details: { retryAfter: verdict.retryAfterSeconds },
      });
    if (!key.scopes.includes(SCOPE)) throw rejectScope(SCOPE);
    return arrival;
  } catch (thrown) {
    throw record(deps, arrival, toAppError(thrown, deps.log, arrival.requestId));
  }
}

/**
 * Receives a message and accepts it by the service of the API. Returns the email's id after it is committed.
 * Always reads the stream to its end, so that the client gets the reply. Throws an AppError; null if the
 * client disconnected.
 */
export async function receiveMessage(
  deps: SubmissionDeps,
  arrival: Arrival,
  stream: MessageStream,
  envelope: readonly string[],
): Promise<string | null> {
  const { key, requestId } = arrival;
  const claim = deps.bodies.open(`team:${key.teamId}`);
  let submission: Submission | undefined;
  const span = deps.tracer?.start("SMTP submission", {
    kind: "server",
    attributes: { "backstamp.request_id": requestId },
  });
  try {
    const bytes = await readStream(stream, claim, deps.bodyMaxBytes);
    if (bytes === null) return null;
    // A client has minutes to send a message, and the key can be revoked meanwhile.
    if (!(await deps.authenticate(arrival.token)))
      throw new AppError("unauthorized", "The API key is no longer valid. Log in with another one.");
    submission = await deps.threads.read(key.teamId, PARSE_SUBMISSION, { bytes, envelope }, readMsMax);
    const { id: keyId, teamId, scopes, domains, allDomains } = key;
    const actor = { kind: "key" as const, keyId, scopes, domains, allDomains };
    const id = await acceptOnce(
      { ...deps, teamId, actor, requestId, traceparent: span?.traceparent, claim },
      submission,
    );
    record(deps, arrival, null, submission, id);
    return id;
  } catch (thrown) {
    span?.fail(thrown instanceof AppError ? thrown.code : "internal");
    throw record(deps, arrival, toAppError(thrown, deps.log, requestId), submission);
  } finally {
    span?.end();
    claim.release();
  }
}

type SendCtx = Parameters<typeof sendEmail>[0];

/** A repeated idempotency key with the same content returns the id of the first email and sends nothing. */
async function acceptOnce(ctx: SendCtx, { email, once }: Submission): Promise<string> {
  const findEarlier = async () => {
    const earlier = once && (await findStoredResponse(ctx, once));
    return earlier ? String(earlier.body.id) : null;
  };
  const earlier = await findEarlier();
  if (earlier !== null) return earlier;
  try {
    return (await sendEmail(ctx, email, once)).id;
  } catch (thrown) {
    const first = thrown instanceof IdempotencyKeyTaken ? await findEarlier() : null;
    if (first !== null) return first;
    throw thrown;
  }
}

/**
 * Reads the message within the memory budget. What exceeds the limits is read and dropped. Null if the client
 * disconnected.
 */
async function readStream(
  stream: MessageStream,
  claim: ReturnType<SubmissionDeps["bodies"]["open"]>,
  bytesMax: number,
): Promise<Buffer | null> {
  const blocks = createBlocks();
  let length = 0;
  let fault: unknown;
  const reject = (thrown: unknown): void => {
    fault ??= thrown;
    blocks.clear();
  };
  // The budget rejects a stalled message while the stream waits for the client. Its memory must be free at
  // once.
  const { signal } = claim;
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop);
  try {
    for await (const chunk of stream) {
      length += chunk.length;
      if (length > bytesMax) reject(new AppError("too_large", `A message has at most ${bytesMax} bytes.`));
      else await claim.grow(chunk.length).catch(reject);
      if (fault === undefined) blocks.add(chunk);
    }
  } catch {
    return null;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  if (fault !== undefined) throw fault;
  claim.settle();
  return blocks.join(length);
}

/** Copies chunks into blocks: smtp-server emits one small Buffer for each line that begins with a dot. */
function createBlocks() {
  const blocks: Buffer[] = [];
  let free = Buffer.alloc(0);
  return {
    add(chunk: Buffer): void {
      for (let from = 0; from < chunk.length; ) {
        if (free.length === 0) {
          free = Buffer.allocUnsafeSlow(blockBytes);
          blocks.push(free);
        }
        const copied = chunk.copy(free, 0, from);
        free = free.subarray(copied);
        from += copied;
      }
    },
    clear(): void {
      blocks.length = 0;
      free = Buffer.alloc(0);
    },
    join: (length: number): Buffer => Buffer.concat(blocks, length),
  };
}

type Call = Parameters<SubmissionDeps["requestLog"]["record"]>[0];

/** Adds a call to the log of recent requests. `agent`: the name that the client sent in EHLO. */
export const logCall = (
  { requestLog }: SubmissionDeps,
  agent: string | false | null | undefined,
  call: Omit<Call, "method" | "path" | "userAgent">,
): void =>
  requestLog.record({
    method: "SMTP",
    path: "/emails",
    userAgent: (agent || null)?.slice(0, 300) ?? null,
    ...call,
  });

/** Adds the message to the log. Returns the error. */
function record(
  deps: SubmissionDeps,
  { key, agent }: Arrival,
  error: AppError | null,
  submission?: Submission,
  id?: string,
): AppError | null {
  const email = submission?.email;
  logCall(deps, agent, {
    caller: { teamId: key.teamId, apiKeyId: key.id },
    status: error?.status ?? 200,
    requestBody: email && {
      from: email.from?.address,
      to: email.to.map(({ address }) => address),
      cc: email.cc.map(({ address }) => address),
      bcc: email.bcc.map(({ address }) => address),
      subject: email.subject,
    },
    responseBody: error ? { error: error.message } : { id },
    rejection: error && rejectionOf(error),
  });
  return error;
}
