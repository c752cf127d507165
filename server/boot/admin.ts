import { fileURLToPath } from "node:url";
import { Command, CommanderError } from "commander";
import { loadDotEnv } from "#server/env";
import { addCallbackCommands } from "./admin/callbacks";
import { addDomainCommands } from "./admin/domains";
import { addEmailCommands } from "./admin/emails";
import { explainFault } from "./admin/faults";
import { addInboundCommands } from "./admin/inbound";
import { addKeyCommands } from "./admin/keys";
import { addRelayCommands } from "./admin/relays";
import { addServiceCommands } from "./admin/service";
import { addTeamCommands } from "./admin/teams";
import { addUserCommands } from "./admin/users";

/*
 * The operator's command line. Exit codes: 0 done, 1 refused or failed, 2 called wrongly. Results go to standard output,
 * everything else to standard error.
 */
const failed = 1;
const calledWrongly = 2;

const about = `
It works with the database of DATABASE_URL; without that, with the embedded one of the Posthorn that runs
with this data directory; and where none runs, it starts that database for as long as the command takes.
Settings are read from the environment and from .env files, as npm start reads them.

Examples:
  npm run -s posthorn -- key create --name app --scopes sending_access --domains example.com
  npm run -s posthorn -- email show 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2
  npm run -s posthorn -- key create --help`;

const program = new Command("npm run -s posthorn --")
  .description("Manages a Posthorn: teams, people, keys, domains, and what became of a mail.")
  .exitOverride()
  .showHelpAfterError("Run it with --help to see what is possible.")
  .addHelpText("after", about);
addKeyCommands(program);
addDomainCommands(program);
addTeamCommands(program);
addUserCommands(program);
addEmailCommands(program);
addRelayCommands(program);
addCallbackCommands(program);
addInboundCommands(program);
addServiceCommands(program);

// A reader that has seen enough, such as head, is no fault.
process.stdout.on("error", () => process.exit());
try {
  loadDotEnv(
    fileURLToPath(new URL("../..", import.meta.url)),
    process.env.NODE_ENV === "development" ? "development" : "production",
    process.env,
  );
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : calledWrongly;
  } else {
    process.stderr.write(`posthorn: ${explainFault(error)}\n`);
    process.exitCode = failed;
  }
}
