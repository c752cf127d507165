import type { Command } from "commander";
import { readSettings } from "#server/env";
import { deriveKey } from "#server/secrets";
import { readGenerated } from "../generated";
import { Refusal } from "../refusal";
import { addJsonOption } from "./arguments";
import { say, sayJson } from "./terminal";

/** `inbound token`. */
export function addInboundCommands(program: Command): void {
  const inbound = program.command("inbound").description("what comes back: bounces and complaints");
  addJsonOption(
    inbound
      .command("token")
      .description("shows where messages that came back are handed in, and the token that opens it"),
  )
    .addHelpText(
      "after",
      "\nThe token follows from POSTHORN_SECRET: a new secret makes a new one.\nExample, for a mail server that passes a message on:\n  curl --data-binary @- -H 'Content-Type: message/rfc822' -H 'Authorization: Bearer <token>' <address>",
    )
    .action(async ({ json }: { json?: true }) => {
      const settings = readSettings(process.env, "dev");
      const secret = settings.secret ?? (await readGenerated(settings.dataDir)).secret;
      if (secret === undefined)
        throw new Refusal(
          `POSTHORN_SECRET is not set, and ${settings.dataDir} has none: there is no token yet. Start Posthorn once, or set the secret.`,
        );
      const [url, token] = [`${settings.url}/api/inbound/message`, deriveKey(secret, "inbound")];
      if (json) return sayJson({ url, token });
      say(`Address  ${url}`);
      say(`Token    ${token}`);
    });
}
