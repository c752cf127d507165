import { fileURLToPath } from "node:url";
import { Command, CommanderError } from "commander";
import { loadDotEnv } from "#server/env";
import { explainFault } from "./admin/faults";

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

type Group = (program: Command) => void;

const loadService = async (): Promise<Group> => (await import("./admin/service")).addServiceCommands;

/** The groups of commands by the word they begin with. Only the one that is called is loaded: that halves its start. */
const GROUPS: Record<string, () => Promise<Group>> = {
  key: async () => (await import("./admin/keys")).addKeyCommands,
  domain: async () => (await import("./admin/domains")).addDomainCommands,
  team: async () => (await import("./admin/teams")).addTeamCommands,
  user: async () => (await import("./admin/users")).addUserCommands,
  email: async () => (await import("./admin/emails")).addEmailCommands,
  relay: async () => (await import("./admin/relays")).addRelayCommands,
  destination: async () => (await import("./admin/destinations")).addDestinationCommands,
  callback: async () => (await import("./admin/callbacks")).addCallbackCommands,
  inbound: async () => (await import("./admin/inbound")).addInboundCommands,
  migrate: loadService,
  worker: loadService,
};

/** The groups that a command line needs: all of them where it names none, so that help shows everything. */
function groupsFor(word = ""): (() => Promise<Group>)[] {
  const load = Object.hasOwn(GROUPS, word) ? GROUPS[word] : undefined;
  return load ? [load] : [...new Set(Object.values(GROUPS))];
}

const program = new Command("npm run -s posthorn --")
  .description("Manages a Posthorn: teams, people, keys, domains, and what became of a mail.")
  .exitOverride()
  .showHelpAfterError("Run it with --help to see what is possible.")
  .addHelpText("after", about);
// A reader that has seen enough, such as head, is no fault.
process.stdout.on("error", () => process.exit());
try {
  loadDotEnv(
    fileURLToPath(new URL("../..", import.meta.url)),
    process.env.NODE_ENV === "development" ? "development" : "production",
    process.env,
  );
  for (const load of groupsFor(process.argv[2])) (await load())(program);
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : calledWrongly;
  } else {
    process.stderr.write(`posthorn: ${explainFault(error)}\n`);
    process.exitCode = failed;
  }
}
