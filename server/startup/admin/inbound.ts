import type { Command } from "commander";
import { readSettings } from "#server/platform/env/settings";
import { deriveKey } from "#server/platform/secrets/secrets";
import { readGenerated } from "../install/generated";
import { findHolder } from "../launcher/lock";
import { OperatorError } from "../launcher/operator-error";
import { addJsonOption } from "./arguments";
import { requirePublicUrl } from "./session";
import { printJson, printLine } from "./terminal";

/** `inbound token`. */
export function addInboundCommands(program: Command): void {
  const inbound = program.command("inbound").description("inbound email: bounces and complaints");
  addJsonOption(
    inbound.command("token").description("shows the URL that accepts bounces and complaints, and its token"),
  )
    .addHelpText(
      "after",
      "\nThe token is derived from BACKSTAMP_SECRET and changes with it.\nExample, for a mail server that forwards a message:\n  curl --data-binary @- -H 'Content-Type: message/rfc822' -H 'Authorization: Bearer <token>' <url>",
    )
    .action(async ({ json }: { json?: true }) => {
      const settings = readSettings(process.env, "dev");
      const secret = settings.secret ?? (await readGenerated(settings.dataDir)).secret;
      if (secret === undefined)
        throw new OperatorError(
          `BACKSTAMP_SECRET is not set, and ${settings.dataDir} contains no generated secret. Start Backstamp once, or set the secret.`,
        );
      const { databaseUrl, dataDir, givenUrl } = settings;
      const publicUrl =
        databaseUrl === null ? ((await findHolder(dataDir))?.publicUrl ?? settings.url) : givenUrl;
      const url = `${requirePublicUrl({ publicUrl })}/api/inbound/message`;
      const token = deriveKey(secret, "inbound");
      if (json) return printJson({ url, token });
      printLine(`URL    ${url}`);
      printLine(`Token  ${token}`);
    });
}
