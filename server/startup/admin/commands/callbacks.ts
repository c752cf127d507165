import type { RelayProvider } from "#db/schema/relays";
import { postmarkUser } from "#server/mail/callbacks/postmark";
import { readSettings } from "#server/platform/env/settings";
import { deriveKey } from "#server/platform/secrets/secrets";
import {
  callbackPathOf,
  clearCallback,
  openCallbackSecret,
  PROVIDER_NAMES,
  readCallbackRelay,
  setCallback,
} from "#server/services/callbacks/secrets";
import type { RelayView } from "#server/services/relays/read";
import { readGenerated } from "../../install/generated";
import { findHolder } from "../../launcher/lock";
import { OperatorError } from "../../launcher/operator-error";
import { type AdminCommand, examples, runInDatabase } from "../command";
import { requirePublicUrl, type Session } from "../session";
import { printOutput } from "../terminal";
import { findGivenRelay, RELAY, RELAY_TEAM, type RelayOptions, readSecret } from "./relays";

type SetOptions = RelayOptions & { secret?: string; topic?: string };

/** Setup steps at the provider. */
const STEPS: Record<RelayProvider, string> = {
  ses: "Subscribe the URL to the topic over HTTPS, without raw message delivery. The subscription is confirmed automatically. Then configure SES to publish bounces, complaints and deliveries to the topic.",
  postmark: `Enter the URL as a webhook for Delivery, Bounce and Spam complaint, with basic authentication: user ${postmarkUser} and the secret.`,
  mailgun:
    "Enter the URL as a webhook for delivered, permanent failure, temporary failure and spam complaints. The secret is the account's HTTP webhook signing key.",
  sendgrid:
    "Enter the URL as an event webhook for delivered, deferred, bounced, dropped and spam reports, and enable the signed event webhook. The secret is the verification key that SendGrid shows.",
  resend:
    "Enter the URL as a webhook for email.delivered, bounced, complained, delivery_delayed, failed and suppressed. The secret is its signing secret.",
};

/** `callback show`, `callback set`, `callback off`. */
export function addCallbackCommands(program: AdminCommand): void {
  const callback = program
    .command("callback")
    .description("webhooks of relay providers that report deliveries, bounces and complaints");

  const show = callback
    .command("show")
    .description("shows the callback URL of a relay's provider, and whether its calls are accepted")
    .argument(...RELAY)
    .option(...RELAY_TEAM);
  runInDatabase(show, async (session, name: string, options: RelayOptions) => {
    requirePublicUrl(session);
    const relay = await findGivenRelay(session.deps, name, options);
    const json = await present(session, relay);
    return { json, text: describe(relay, json) };
  });

  const set = callback
    .command("set")
    .description("sets the secret that authenticates a relay provider's calls, and accepts them")
    .argument(...RELAY)
    .option(...RELAY_TEAM)
    .option(
      "--secret <secret>",
      "the provider's secret; - reads it from standard input (Postmark: one is generated)",
    )
    .option("--topic <arn>", "the SNS topic, for SES")
    .addHelpText(
      ...examples(
        "callback set main --topic arn:aws:sns:us-east-1:123456789012:mail",
        "callback set spare --secret - < key.txt",
      ),
    );
  runInDatabase(set, async (session, name: string, { secret: given, topic, team }: SetOptions) => {
    requirePublicUrl(session);
    const relay = await findGivenRelay(session.deps, name, { ...(team !== undefined && { team }) });
    const secret = await setCallback(session.deps, relay, {
      ...(given !== undefined && { secret: await readSecret(set, given) }),
      ...(topic !== undefined && { topic }),
    });
    const json = await present(session, relay);
    if (secret === null) return { json, text: describe(relay, json) };
    const remark = "The secret is shown only once. Run callback set again to generate another one.";
    return { json: { ...json, secret }, text: [...describe(relay, json), { secret }, remark] };
  });

  const off = callback
    .command("off")
    .description("rejects further calls of a relay's provider")
    .argument(...RELAY)
    .option(...RELAY_TEAM);
  runInDatabase(off, async (session, name: string, options: RelayOptions) => {
    const relay = await findGivenRelay(session.deps, name, options);
    await clearCallback(session.deps, relay);
    return {
      json: await present(session, relay),
      text: [`Callbacks for relay ${relay.name} are off.`],
    };
  });
}

async function present({ deps, publicUrl }: Session, { id, name, provider }: RelayView) {
  const settings = await readCallbackRelay(deps.hot, id);
  const topic = settings?.topic ?? null;
  const isAccepted =
    provider === "ses" ? topic !== null : settings !== null && openCallbackSecret(deps, settings) !== null;
  const url = publicUrl && `${publicUrl}${callbackPathOf(id)}`;
  return { relay_id: id, relay: name, provider, url, is_accepted: isAccepted, topic };
}

function describe(
  { name, provider }: RelayView,
  { url, is_accepted: isAccepted, topic }: Awaited<ReturnType<typeof present>>,
): (string | object)[] {
  const fields = { url, ...(topic !== null && { topic }) };
  if (provider === null)
    return [fields, `The relay's provider is unknown. Set it: relay set ${name} --provider NAME`];
  const calls = `Calls from ${PROVIDER_NAMES[provider]} are`;
  return [
    fields,
    isAccepted ? `${calls} accepted.` : `${calls} not accepted yet. See: callback set ${name} --help`,
    STEPS[provider],
  ];
}

/** `inbound token`. */
export function addInboundCommands(program: AdminCommand): void {
  const inbound = program.command("inbound").description("inbound email: bounces and complaints");
  inbound
    .command("token")
    .description("shows the URL that accepts bounces and complaints, and its token")
    .addHelpText(
      "after",
      "\nThe token is derived from BACKSTAMP_SECRET and changes with it.\nExample, for a mail server that forwards a message:\n  curl --data-binary @- -H 'Content-Type: message/rfc822' -H 'Authorization: Bearer <token>' <url>",
    )
    .action(async ({ json }: { json?: true }) => {
      const settings = readSettings(program.terminal.env, "dev");
      const secret = settings.secret ?? (await readGenerated(settings.dataDir)).secret;
      if (secret === undefined)
        throw new OperatorError(
          `BACKSTAMP_SECRET is not set, and ${settings.dataDir} contains no generated secret. Start Backstamp once, or set the secret.`,
        );
      const { databaseUrl, dataDir, givenUrl } = settings;
      const publicUrl =
        databaseUrl === null ? ((await findHolder(dataDir))?.publicUrl ?? settings.url) : givenUrl;
      const url = `${requirePublicUrl({ publicUrl })}/api/inbound/message`;
      printOutput(program.terminal, { json: { url, token: deriveKey(secret, "inbound") } }, json === true);
    });
}
