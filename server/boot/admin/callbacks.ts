import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { readHeardRelay } from "#db/callbacks";
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
import { findRelay, type ShownRelay } from "#server/services/relays/read";
import { findTeam } from "#server/services/teams";
import { addJsonOption } from "./arguments";
import { withDatabase } from "./session";
import { say, sayJson } from "./terminal";

type Options = { json?: true; team?: string };

/** What to enter there, and what to bring from there. */
const STEPS: Record<RelayProvider, string> = {
  ses: "Subscribe the address to the topic by HTTPS, without raw message delivery; it confirms itself. Then have SES write bounces, complaints and deliveries there.",
  postmark: `Enter the address as a webhook for Delivery, Bounce and Spam complaint, with basic authentication: user ${postmarkUser} and the secret.`,
  mailgun:
    "Enter the address for delivered, permanent and temporary failures and spam complaints. The secret is the account's HTTP webhook signing key.",
  sendgrid:
    "Enter the address as an event webhook for delivered, deferred, bounced, dropped and spam reports, and sign it. The secret is the verification key that is shown there.",
  resend:
    "Enter the address as a webhook for email.delivered, bounced, complained, delivery_delayed, failed and suppressed. The secret is its signing secret.",
};

/** `callback show`, `callback set`, `callback off`. */
export function addCallbackCommands(program: Command): void {
  const callback = program
    .command("callback")
    .description("what the providers behind relays tell: deliveries, bounces and complaints");

  addJsonOption(
    addRelayArgument(
      callback
        .command("show")
        .description("shows where a relay's provider has to call, and whether it is heard"),
    ),
  ).action(async (name: string, options: Options) => {
    await withDatabase(async ({ deps }) => {
      const relay = await find(deps, name, options);
      const shown = await present(deps, relay);
      if (options.json) return sayJson(shown);
      sayCallback(relay, shown);
    });
  });

  addJsonOption(
    addRelayArgument(
      callback
        .command("set")
        .description("says by what a relay's provider proves its calls; from then on they are heard"),
    )
      .option("--secret <secret>", "of the provider; - reads it from standard input (Postmark: one is made)")
      .option("--topic <arn>", "of SNS, for SES"),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  callback set main --topic arn:aws:sns:us-east-1:123456789012:mail\n  callback set spare --secret - < key.txt",
    )
    .action(async (name: string, options: Options & { secret?: string; topic?: string }) => {
      const { topic, secret: given } = options;
      const secret = given === "-" ? (await text(process.stdin)).trim() : given;
      await withDatabase(async ({ deps }) => {
        const relay = await find(deps, name, options);
        const made = await setCallback(deps, relay, {
          ...(secret === undefined ? {} : { secret }),
          ...(topic === undefined ? {} : { topic }),
        });
        const shown = await present(deps, relay);
        if (options.json) return sayJson(made === null ? shown : { ...shown, secret: made });
        sayCallback(relay, shown);
        if (made === null) return;
        say();
        say(`  Secret   ${made}`);
        say();
        say("The secret is shown this once; callback set makes another one.");
      });
    });

  addJsonOption(
    addRelayArgument(callback.command("off").description("stops hearing a relay's provider")),
  ).action(async (name: string, options: Options) => {
    await withDatabase(async ({ deps }) => {
      const relay = await find(deps, name, options);
      await clearCallback(deps, relay);
      if (options.json) return sayJson(await present(deps, relay));
      say(`Nobody is heard for relay ${relay.name} any more.`);
    });
  });
}

const addRelayArgument = (command: Command): Command =>
  command
    .argument("<relay>", "its id or name")
    .option("--team <team>", "the team whose relay it is, by id or name");

const find = async (deps: Deps, name: string, { team }: Options): Promise<ShownRelay> =>
  findRelay(deps, name, team === undefined ? undefined : await findTeam(deps, team));

type Shown = Awaited<ReturnType<typeof present>>;

async function present(deps: Deps, { id, name, provider }: ShownRelay) {
  const heard = await readHeardRelay(deps.hot, id);
  const topic = heard?.topic ?? null;
  const isHeard =
    provider === "ses" ? topic !== null : heard !== null && openCallbackSecret(deps, heard) !== null;
  const url = `${deps.recipientTokens.origin}${callbackPathOf(id)}`;
  return { relay_id: id, relay: name, provider, url, heard: isHeard, topic };
}

function sayCallback({ name, provider }: ShownRelay, { url, heard, topic }: Shown): void {
  say(`Address  ${url}`);
  if (topic !== null) say(`Topic    ${topic}`);
  if (provider === null) {
    say(`Whose server it is, is not known: relay set ${name} --provider NAME makes it known.`);
    return;
  }
  const who = PROVIDER_NAMES[provider];
  say(heard ? `${who} is heard there.` : `${who} is not heard yet: callback set ${name} --help`);
  say(STEPS[provider]);
}
