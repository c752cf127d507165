import type { RelayProvider } from "#db/schema/relays";
import { secretUser } from "#server/mail/callbacks/secret";
import { readSettings } from "#server/platform/env/settings";
import { deriveKey } from "#server/platform/secrets/secrets";
import {
  callbackPathOf,
  clearCallback,
  generatesSecret,
  getCallbackRelay,
  hasTopic,
  openCallbackSecret,
  PROVIDER_NAMES,
  setCallback,
} from "#server/services/callbacks/secrets";
import type { RelayView } from "#server/services/relays/read";
import { OperatorError } from "../../launcher/operator-error";
import { asText } from "../arguments";
import { command, definedOf, examples, inDatabase, option } from "../command";
import { findDatabase, type Session, withKeptSecret } from "../connection";
import { requirePublicUrl } from "../session";
import { type Output, output } from "../terminal";
import { findGivenRelay, RELAY, readSecret } from "./relays";

const WITH_PASSWORD = `with basic authentication in the URL: user ${secretUser} and the secret as the password`;

/** Setup steps at the provider. */
const STEPS: Record<RelayProvider, string> = {
  ses: "Subscribe the URL to the topic over HTTPS, without raw message delivery. The subscription is confirmed automatically. Then configure SES to publish bounces, complaints, deliveries and subscriptions to the topic.",
  postmark: `Enter the URL as a webhook for Delivery, Bounce, Spam complaint and Subscription change, with basic authentication: user ${secretUser} and the secret.`,
  mailgun:
    "Enter the URL as a webhook for delivered, permanent failure, temporary failure, spam complaints and unsubscribes. The secret is the account's HTTP webhook signing key.",
  sendgrid:
    "Enter the URL as an event webhook for delivered, deferred, bounced, dropped, spam reports, unsubscribes and group unsubscribes, and enable the signed event webhook. The secret is the verification key that SendGrid shows.",
  resend:
    "Enter the URL as a webhook for email.delivered, bounced, complained, delivery_delayed, failed and suppressed. The secret is its signing secret.",
  brevo: `Enter the URL as a transactional webhook for delivered, deferred, soft bounce, hard bounce, invalid email, blocked, error, complaint and unsubscribed, ${WITH_PASSWORD}; or send the secret as a bearer token.`,
  mailjet: `Enter the URL for the events sent, bounce, spam, blocked and unsub, ${WITH_PASSWORD}.`,
  sparkpost: `Enter the URL as a webhook for delivery, delay, bounce, out of band, policy rejection, generation failure and rejection, spam complaint, list and link unsubscribe, with basic authentication: user ${secretUser} and the secret.`,
  scaleway:
    "Subscribe the URL to the topic over HTTPS. The subscription is confirmed automatically. Then create a webhook of the domain that publishes all its events to the topic.",
  mailersend:
    "Enter the URL as a webhook for delivered, soft bounced, hard bounced, deferred, unsubscribed and spam complaint. The secret is its signing secret.",
};

export const callbackCommands = {
  show: inDatabase({
    about: "shows the callback URL of a relay's provider, and whether its calls are accepted",
    params: RELAY,
    run: async (session, { relay, team }) =>
      describeCallback(session, await findGivenRelay(session.deps, relay, team)),
  }),

  set: inDatabase({
    about: "prints the callback URL, and accepts the provider's calls once its topic or secret is set",
    params: {
      ...RELAY,
      secret: option(
        "secret",
        "the provider's secret; - reads it from standard input (Postmark, Brevo, Mailjet, SparkPost: one is generated)",
        asText,
      ),
      topic: option("arn", "the topic, for SES and Scaleway", asText),
    },
    help: examples(
      "callback set main --topic arn:aws:sns:us-east-1:123456789012:mail",
      "callback set spare --secret - < key.txt",
    ),
    run: async (session, { relay: name, team, secret: given, topic }, terminal) => {
      requirePublicUrl(session);
      const { deps } = session;
      const relay = await findGivenRelay(deps, name, team);
      const isGiven = given !== undefined || topic !== undefined;
      // The URL is needed before the provider shows its secret.
      if (!isGiven && !generatesSecret(relay.provider)) return describeCallback(session, relay);
      const secret = given === undefined ? undefined : await readSecret(terminal, given);
      const generated = await setCallback(deps, relay, definedOf({ secret, topic }));
      const { json, text = [] } = await describeCallback(session, relay);
      if (generated === null) return { json, text };
      const remark = "The secret is shown only once. Run callback set again to generate another one.";
      return output({ ...json, secret: generated }, ...text, { secret: generated }, remark);
    },
  }),

  off: inDatabase({
    about: "rejects further calls of a relay's provider",
    params: RELAY,
    run: async (session, { relay: name, team }) => {
      const relay = await findGivenRelay(session.deps, name, team);
      await clearCallback(session.deps, relay);
      const { json } = await describeCallback(session, relay);
      return output(json, `Callbacks for relay ${relay.name} are off.`);
    },
  }),
};

async function describeCallback(session: Session, { id, name, provider }: RelayView): Promise<Output> {
  const { deps } = session;
  const url = `${requirePublicUrl(session)}${callbackPathOf(id)}`;
  const settings = await getCallbackRelay(deps.hot, id);
  const topic = settings?.topic ?? null;
  const hasSecret = settings !== null && openCallbackSecret(deps, settings) !== null;
  const isByTopic = provider !== null && hasTopic(provider);
  const isAccepted = isByTopic ? topic !== null : hasSecret;
  const json = { relay_id: id, relay: name, provider, url, is_accepted: isAccepted, topic };
  const fields = { url, ...(topic !== null && { topic }) };
  if (provider === null)
    return output(json, fields, `The relay's provider is unknown. Set it: relay set ${name} --provider NAME`);
  const missing = isByTopic ? "--topic ARN" : generatesSecret(provider) ? "" : "--secret -";
  const calls = `Calls from ${PROVIDER_NAMES[provider]} are`;
  const state = isAccepted
    ? `${calls} accepted.`
    : `${calls} not accepted yet. Then run: callback set ${name} ${missing}`.trim();
  return output(json, fields, STEPS[provider], state);
}

export const inboundCommands = {
  token: command({
    about: "shows the URL that accepts bounces and complaints, and its token, which changes with the secret",
    help: "\nExample, for a mail server that forwards a message:\n  curl --data-binary @- -H 'Content-Type: message/rfc822' -H 'Authorization: Bearer <token>' <url>",
    run: async (terminal) => {
      const settings = readSettings(terminal.env, "dev");
      const { secret, dataDir } = await withKeptSecret(settings);
      if (secret === null)
        throw new OperatorError(
          `BACKSTAMP_SECRET is not set, and ${dataDir} contains no generated secret. Start Backstamp once, or set the secret.`,
        );
      const running = await findDatabase(settings, terminal.env);
      const url = `${requirePublicUrl(running ?? { publicUrl: settings.url })}/api/inbound/message`;
      return output({ url, token: deriveKey(secret, "inbound") });
    },
  }),
};
