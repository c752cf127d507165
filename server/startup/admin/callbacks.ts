import { text } from "node:stream/consumers";
import type { Command } from "commander";
import type { RelayProvider } from "#db/schema/relays";
import type { Deps } from "#server/deps";
import { postmarkUser } from "#server/mail/callbacks/postmark";
import { PROVIDER_NAMES } from "#server/services/callbacks/schemes";
import {
  callbackPathOf,
  clearCallback,
  openCallbackSecret,
  setCallback,
} from "#server/services/callbacks/secrets";
import { readCallbackRelay } from "#server/services/callbacks/tokens";
import { findRelay, type RelayView } from "#server/services/relays/read";
import { findTeam } from "#server/services/teams";
import { addJsonOption } from "./arguments";
import { requirePublicUrl, withDatabase } from "./session";
import { printJson, printLine } from "./terminal";

type Options = { json?: true; team?: string };

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
export function addCallbackCommands(program: Command): void {
  const callback = program
    .command("callback")
    .description("webhooks of relay providers that report deliveries, bounces and complaints");

  addJsonOption(
    addRelayArgument(
      callback
        .command("show")
        .description("shows the callback URL of a relay's provider, and whether its calls are accepted"),
    ),
  ).action(async (name: string, options: Options) => {
    await withDatabase(async (session) => {
      const { deps } = session;
      const origin = requirePublicUrl(session);
      const relay = await find(deps, name, options);
      const shown = await present(deps, relay, origin);
      if (options.json) return printJson(shown);
      printCallback(relay, shown);
    });
  });

  addJsonOption(
    addRelayArgument(
      callback
        .command("set")
        .description("sets the secret that authenticates a relay provider's calls, and accepts them"),
    )
      .option(
        "--secret <secret>",
        "the provider's secret; - reads it from standard input (Postmark: one is generated)",
      )
      .option("--topic <arn>", "the SNS topic, for SES"),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  callback set main --topic arn:aws:sns:us-east-1:123456789012:mail\n  callback set spare --secret - < key.txt",
    )
    .action(async (name: string, options: Options & { secret?: string; topic?: string }) => {
      const { topic, secret: given } = options;
      const secret = given === "-" ? (await text(process.stdin)).trim() : given;
      await withDatabase(async (session) => {
        const { deps } = session;
        const origin = requirePublicUrl(session);
        const relay = await find(deps, name, options);
        const made = await setCallback(deps, relay, {
          ...(secret === undefined ? {} : { secret }),
          ...(topic === undefined ? {} : { topic }),
        });
        const shown = await present(deps, relay, origin);
        if (options.json) return printJson(made === null ? shown : { ...shown, secret: made });
        printCallback(relay, shown);
        if (made === null) return;
        printLine();
        printLine(`  Secret   ${made}`);
        printLine();
        printLine("The secret is shown only once. Run callback set again to generate another one.");
      });
    });

  addJsonOption(
    addRelayArgument(callback.command("off").description("rejects further calls of a relay's provider")),
  ).action(async (name: string, options: Options) => {
    await withDatabase(async ({ deps, publicUrl }) => {
      const relay = await find(deps, name, options);
      await clearCallback(deps, relay);
      if (options.json) return printJson(await present(deps, relay, publicUrl));
      printLine(`Callbacks for relay ${relay.name} are off.`);
    });
  });
}

const addRelayArgument = (command: Command): Command =>
  command
    .argument("<relay>", "id or name of the relay")
    .option("--team <team>", "id or name of the team that the relay belongs to");

const find = async (deps: Deps, name: string, { team }: Options): Promise<RelayView> =>
  findRelay(deps, name, team === undefined ? undefined : await findTeam(deps, team));

type Shown = Awaited<ReturnType<typeof present<string>>>;

async function present<Origin extends string | null>(
  deps: Deps,
  { id, name, provider }: RelayView,
  origin: Origin,
) {
  const heard = await readCallbackRelay(deps.hot, id);
  const topic = heard?.topic ?? null;
  const isHeard =
    provider === "ses" ? topic !== null : heard !== null && openCallbackSecret(deps, heard) !== null;
  const url = origin && `${origin}${callbackPathOf(id)}`;
  return { relay_id: id, relay: name, provider, url, heard: isHeard, topic };
}

function printCallback({ name, provider }: RelayView, { url, heard, topic }: Shown): void {
  printLine(`URL      ${url}`);
  if (topic !== null) printLine(`Topic    ${topic}`);
  if (provider === null) {
    printLine(`The relay's provider is unknown. Set it: relay set ${name} --provider NAME`);
    return;
  }
  const providerName = PROVIDER_NAMES[provider];
  printLine(
    heard
      ? `Calls from ${providerName} are accepted.`
      : `Calls from ${providerName} are not accepted yet. See: callback set ${name} --help`,
  );
  printLine(STEPS[provider]);
}
