import { createHash } from "node:crypto";
import type { Deps } from "#server/deps";
import type { Callback, ProviderEvent, Scheme } from "#server/mail/callbacks/callback";
import { mailgun, mailgunAgeSecondsMax, tokenOf } from "#server/mail/callbacks/mailgun";
import { postmark } from "#server/mail/callbacks/postmark";
import { resend } from "#server/mail/callbacks/resend";
import { sendgrid } from "#server/mail/callbacks/sendgrid";
import { parseSesEvents } from "#server/mail/callbacks/ses";
import { parseSnsMessage, type SnsMessage } from "#server/mail/callbacks/sns";
import { brevo, mailersend, mailjet, parseScalewayEvents, sparkpost } from "#server/mail/callbacks/tables";
import { AppError } from "#server/platform/errors";
import type { Log } from "#server/platform/log";
import { parseJson } from "#server/shared/text/parse-json";
import type { Recorded } from "../returns/record";
import { recordProviderEvent } from "./record";
import {
  type CallbackRelay,
  getCallbackRelay,
  hasTopic,
  openCallbackSecret,
  type SecretProvider,
  type TopicProvider,
} from "./secrets";
import { confirmSubscription, verifySns } from "./sns";

/** The result of a genuine callback, after it was committed. */
export type CallbackReceived = {
  /** Number of deliveries that it changed. */
  recorded: number;
  /** Why each of the other reports in it changed nothing. */
  ignored: Exclude<Recorded, "recorded">[];
};

/** Providers that authenticate callbacks by a secret. */
const SCHEMES: Readonly<Record<SecretProvider, Scheme>> = {
  postmark,
  mailgun,
  sendgrid,
  resend,
  brevo,
  mailjet,
  sparkpost,
  mailersend,
};

/** Providers that publish to a topic, whose messages are signed with a certificate that has to be fetched. */
const TOPIC_READERS: Readonly<Record<TopicProvider, (payload: unknown) => ProviderEvent[]>> = {
  ses: parseSesEvents,
  scaleway: parseScalewayEvents,
};

/**
 * Why a callback is rejected. `unknown`: no relay expects callbacks there. `reused`: the token was used for
 * another body.
 */
type CallbackRejection = "unknown" | "forged" | "expired" | "reused";

type ReceiveDeps = Pick<Deps, "db" | "hot" | "log" | "wake" | "clock" | "vault" | "outside">;
type Verified = { events: ProviderEvent[] } | { rejection: CallbackRejection };

/** How long a token is kept after its validity ends, to allow for clock differences. */
const tokenSlackSeconds = 3_600;
/** Expired tokens that one callback deletes. */
const deleteBatch = 100;

/**
 * The relay whose provider may call, found before the request body is read. Null, and counted as a rejection,
 * if the relay expects no callbacks, or if its provider authenticates by a header and this request does not.
 */
export async function findCallbackRelay(
  deps: ReceiveDeps,
  relayId: string,
  header: Callback["header"],
): Promise<CallbackRelay | null> {
  const relay = await getCallbackRelay(deps.hot, relayId);
  const rejection = relay ? checkHeaders(deps, relay, header) : "unknown";
  if (rejection) countRejection(deps, { relayId, provider: relay?.provider ?? null, why: rejection });
  return rejection ? null : relay;
}

function checkHeaders(
  deps: ReceiveDeps,
  relay: CallbackRelay,
  header: Callback["header"],
): CallbackRejection | null {
  const { provider, topic } = relay;
  if (provider === null) return "unknown";
  if (hasTopic(provider)) return topic === null ? "unknown" : null;
  const secret = openCallbackSecret(deps, relay);
  if (secret === null) return "unknown";
  const { verify, authenticatesByHeader } = SCHEMES[provider];
  const verdict = authenticatesByHeader
    ? verify({ bytes: new Uint8Array(), header }, secret, deps.clock())
    : "genuine";
  return verdict === "genuine" ? null : verdict;
}

/**
 * Records what a relay's provider reports about emails that were sent through this relay, and no others. Null
 * for a request that the provider did not send; it is counted. Throws if the database is unavailable or the
 * provider's certificate cannot be fetched. The provider must repeat the request in that case, and if a
 * report has to wait (`later`).
 */
export async function receiveCallback(
  deps: ReceiveDeps,
  relay: CallbackRelay,
  callback: Callback,
): Promise<CallbackReceived | null> {
  const { id: relayId, provider } = relay;
  const verified = await verifyCallback(deps, relay, callback);
  if ("rejection" in verified) {
    countRejection(deps, { relayId, provider, why: verified.rejection });
    return null;
  }
  const results: Recorded[] = [];
  for (const event of verified.events) results.push(await recordProviderEvent(deps, relay, event));
  const ignored = results.filter((result) => result !== "recorded");
  for (const why of ignored) deps.log.info("return.ignored", { why, kind: "callback", relayId });
  return { recorded: results.length - ignored.length, ignored };
}

async function verifyCallback(
  deps: ReceiveDeps,
  relay: CallbackRelay,
  callback: Callback,
): Promise<Verified> {
  const { provider } = relay;
  if (provider !== null && hasTopic(provider)) return verifySnsCallback(deps, relay, provider, callback);
  const secret = openCallbackSecret(deps, relay);
  if (provider === null || secret === null) return { rejection: "unknown" };
  const scheme = SCHEMES[provider];
  const verdict = scheme.verify(callback, secret, deps.clock());
  if (verdict !== "genuine") return { rejection: verdict };
  if (provider === "mailgun" && !(await canUseToken(deps, relay, callback))) return { rejection: "reused" };
  return { events: scheme.read(parse(callback), callback) };
}

/**
 * Mailgun signs only a token, not the body. A token is therefore bound to the first body it came with;
 * repetitions are allowed. Also deletes some expired tokens.
 */
async function canUseToken({ hot }: ReceiveDeps, relay: CallbackRelay, callback: Callback): Promise<boolean> {
  const digestOf = (text: string | Uint8Array) => createHash("sha256").update(text).digest();
  const token = digestOf(tokenOf(callback) ?? "");
  const body = digestOf(callback.bytes);
  await hot`
    delete from callback_tokens where (relay_id, token) in
      (select relay_id, token from callback_tokens where expires_at < now() order by expires_at limit ${deleteBatch}
       for update skip locked)`;
  const [row] = await hot<{ mayUse: boolean }[]>`
    insert into callback_tokens as used (relay_id, token, body, expires_at)
    values (${relay.id}, ${token}, ${body}, now() + ${mailgunAgeSecondsMax + tokenSlackSeconds} * interval '1 second')
    on conflict (relay_id, token) do update set body = used.body
    returning body = ${body} as "mayUse"`;
  return row?.mayUse ?? false;
}

async function verifySnsCallback(
  deps: ReceiveDeps,
  relay: CallbackRelay,
  provider: TopicProvider,
  callback: Callback,
): Promise<Verified> {
  const { topic } = relay;
  if (topic === null) return { rejection: "unknown" };
  const message = parseSnsMessage(callback);
  if (!message) return { rejection: "forged" };
  const verdict = await verifySns(deps, message, topic);
  if (verdict === null)
    throw new AppError("unavailable", "The SNS certificate cannot be fetched. Try again later.");
  if (verdict !== "genuine") return { rejection: verdict };
  const payload = await handleSns(deps, relay.id, topic, message);
  return { events: payload === null ? [] : TOPIC_READERS[provider](payload) };
}

/** The payload of a notification; null for other messages and for text that is not JSON. */
async function handleSns(
  deps: ReceiveDeps,
  relayId: string,
  topic: string,
  message: SnsMessage,
): Promise<unknown> {
  // When a topic is created, SES also sends a plain sentence instead of a JSON report.
  if (message.Type === "Notification") return parseJson(message.Message);
  if (message.Type === "SubscriptionConfirmation") {
    if (!(await confirmSubscription(deps, topic, message.Token)))
      throw new AppError("unavailable", "The SNS subscription could not be confirmed. Try again later.");
    deps.log.info("callback.subscribed", { relayId });
  } else deps.log.warn("callback.unsubscribed", { relayId });
  return null;
}

function parse({ bytes }: Callback): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError("bad_json", "The body is not valid JSON.", { cause });
  }
}

type Count = { loggedMs: number; unlogged: number };

const logEveryMs = 60_000;
const countsMax = 1_000;
/** Per process and log. Requests without valid credentials must not be able to fill the log. */
const counts = new WeakMap<Log, Map<string, Count>>();

/**
 * Counts a rejected callback. The first is logged immediately; those of the next minute are logged with the
 * first one after it.
 */
function countRejection(
  { log, clock }: Pick<Deps, "log" | "clock">,
  { relayId, provider, why }: { relayId: string; provider: string | null; why: CallbackRejection },
): void {
  // Rejections without a relay share one counter, because callers can invent relay ids.
  const key = why === "unknown" ? why : `${relayId} ${why}`;
  const ofLog = counts.get(log) ?? new Map<string, Count>();
  counts.set(log, ofLog);
  const nowMs = clock().getTime();
  const before = ofLog.get(key);
  if (before && nowMs - before.loggedMs < logEveryMs) {
    before.unlogged += 1;
    return;
  }
  if (!before && ofLog.size >= countsMax) ofLog.clear();
  ofLog.set(key, { loggedMs: nowMs, unlogged: 0 });
  const refused = (before?.unlogged ?? 0) + 1;
  log.warn("callback.rejected", { why, refused, ...(why === "unknown" ? {} : { relayId, provider }) });
}
