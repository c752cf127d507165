import { createHash } from "node:crypto";
import { type HeardRelay, readHeardRelay, spendToken } from "#db/callbacks";
import type { Deps } from "#server/deps";
import { AppError } from "#server/errors";
import type { Callback, Told } from "#server/mail/callbacks/callback";
import { mailgunAgeSecondsMax, tokenOf } from "#server/mail/callbacks/mailgun";
import { readSes } from "#server/mail/callbacks/ses";
import { readSnsMessage, type SnsMessage } from "#server/mail/callbacks/sns";
import type { Recorded } from "../returns/record";
import { recordTold } from "./record";
import { countRefusal, type Refusal } from "./refusals";
import { SCHEMES } from "./schemes";
import { openCallbackSecret } from "./secrets";
import { confirmSubscription, judgeSns } from "./sns";

/** What became of a genuine call, once that is committed. */
export type CallbackReceived = {
  /** Deliveries that it changed. */
  recorded: number;
  /** What of it changed none, each with why. */
  ignored: Exclude<Recorded, "recorded">[];
};

type ReceiveDeps = Pick<Deps, "hot" | "log" | "wake" | "clock" | "vault" | "outside">;
type Heard = { told: Told[] } | { refusal: Refusal };

/** How long after its time a token is kept, for clocks that differ. */
const tokenSlackSeconds = 3_600;

/**
 * Hears a relay's provider: what it tells is recorded for mail that went by this relay, and for no other. Null for whoever
 * is not the provider, which is counted. Throws where the database is away or the provider's certificate could not be
 * fetched, and then, or where something has to wait (`later`), the call has to come again.
 */
export async function receiveCallback(
  deps: ReceiveDeps,
  relayId: string,
  callback: Callback,
): Promise<CallbackReceived | null> {
  const relay = await readHeardRelay(deps.hot, relayId);
  const heard = relay ? await hear(deps, relay, callback) : { refusal: "unknown" as const };
  if ("refusal" in heard) {
    countRefusal(deps, { relayId, provider: relay?.provider ?? null, why: heard.refusal });
    return null;
  }
  if (!relay) return null;
  const results: Recorded[] = [];
  for (const told of heard.told) results.push(await recordTold(deps, relay, told));
  const ignored = results.filter((result) => result !== "recorded");
  for (const why of ignored) deps.log.info("return.ignored", { why, kind: "callback", relayId });
  return { recorded: results.length - ignored.length, ignored };
}

async function hear(deps: ReceiveDeps, relay: HeardRelay, callback: Callback): Promise<Heard> {
  const { provider } = relay;
  if (provider === "ses") return hearSns(deps, relay, callback);
  const secret = openCallbackSecret(deps, relay);
  if (provider === null || secret === null) return { refusal: "unknown" };
  const scheme = SCHEMES[provider];
  const verdict = scheme.verify(callback, secret, deps.clock());
  if (verdict !== "genuine") return { refusal: verdict };
  if (provider === "mailgun" && !(await maySpendToken(deps, relay, callback))) return { refusal: "reused" };
  return { told: scheme.read(parse(callback), callback) };
}

/** What Mailgun signs is a token alone, which serves for what it came with, as often as that comes. */
async function maySpendToken({ hot }: ReceiveDeps, relay: HeardRelay, callback: Callback): Promise<boolean> {
  const digestOf = (text: string | Uint8Array) => createHash("sha256").update(text).digest();
  return spendToken(hot, {
    relayId: relay.id,
    token: digestOf(tokenOf(callback) ?? ""),
    body: digestOf(callback.bytes),
    keptSeconds: mailgunAgeSecondsMax + tokenSlackSeconds,
  });
}

async function hearSns(deps: ReceiveDeps, relay: HeardRelay, callback: Callback): Promise<Heard> {
  const { topic } = relay;
  if (topic === null) return { refusal: "unknown" };
  const message = readSnsMessage(callback);
  if (!message) return { refusal: "forged" };
  const verdict = await judgeSns(deps, message, topic);
  if (verdict === null) throw new AppError("unavailable", "The certificate of SNS cannot be fetched now.");
  if (verdict !== "genuine") return { refusal: verdict };
  return { told: await takeIn(deps, relay.id, topic, message) };
}

async function takeIn(
  deps: ReceiveDeps,
  relayId: string,
  topic: string,
  message: SnsMessage,
): Promise<Told[]> {
  if (message.Type === "Notification") return readSes(parseText(message.Message));
  if (message.Type === "SubscriptionConfirmation") {
    if (!(await confirmSubscription(deps, topic, message.Token)))
      throw new AppError("unavailable", "SNS could not be told that its messages are wanted.");
    deps.log.info("callback.subscribed", { relayId });
  } else deps.log.warn("callback.unsubscribed", { relayId });
  return [];
}

/** Beside its reports SES writes a sentence to a new topic. */
function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function parse({ bytes }: Callback): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError("bad_json", "The body is not valid JSON.", { cause });
  }
}
