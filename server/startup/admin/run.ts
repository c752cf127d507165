import { fileURLToPath } from "node:url";
import { Command as CommanderCommand, CommanderError } from "commander";
import { cli, startCommandOf } from "#server/platform/env/cli";
import { addCommand, type Command, CommandExit } from "./command";
import type { Terminal } from "./terminal";

/*
 * The operator's command line. Exit codes: 0 success, 1 rejected or failed, 2 invalid arguments; those of
 * `doctor` are the severity of its findings. Results are written to standard output, everything else to
 * standard error.
 */
const exitFailed = 1;
const exitUsage = 2;

const about = `
Commands use the database of DATABASE_URL. If it is not set, they use the embedded database of the data
directory: that of the running Backstamp, or else one that is started for the duration of the command.
Settings are read from the environment and from .env files, as ${startCommandOf("start")} reads them.

\`template push\` instead uses the API of any installation: ${cli} template push --help

Examples:
  ${cli} key create --name app --scopes sending_access --domains example.com
  ${cli} email show 0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2
  ${cli} key create --help`;

/** The commands of a group by name, or the only command of this name. */
type Loaded = Record<string, Command> | Command;

/** The groups by their first word. Only the called one is loaded, because loading takes most of the time. */
const GROUPS: Record<string, { about: string; load(): Promise<Loaded> }> = {
  team: {
    about: "teams, each with its own keys, domains and emails",
    load: async () => (await import("./commands/teams")).teamCommands,
  },
  user: {
    about: "users of the console",
    load: async () => (await import("./commands/users")).userCommands,
  },
  operator: {
    about: "users who operate the installation",
    load: async () => (await import("./commands/installation/operators")).operatorCommands,
  },
  key: { about: "API keys", load: async () => (await import("./commands/keys")).keyCommands },
  domain: {
    about: "domains that a team sends from",
    load: async () => (await import("./commands/domains")).domainCommands,
  },
  email: {
    about: "emails and their deliveries",
    load: async () => (await import("./commands/emails")).emailCommands,
  },
  request: {
    about: "API requests and SMTP submissions of seven days",
    load: async () => (await import("./commands/activity")).requestCommands,
  },
  webhook: {
    about: "endpoints that events are sent to",
    load: async () => (await import("./commands/activity")).webhookCommands,
  },
  address: {
    about: "what is stored for a recipient: export it, or erase it everywhere",
    load: async () => (await import("./commands/data/addresses")).addressCommands,
  },
  import: {
    about: "suppressed addresses from another provider",
    load: async () => (await import("./commands/data/import")).importCommands,
  },
  queue: {
    about: "the queue of the whole installation, of a team, or of a sender domain",
    load: async () => (await import("./commands/installation/queue")).queueCommands,
  },
  relay: {
    about: "SMTP servers of providers that send email for all teams, one team, or one domain",
    load: async () => (await import("./commands/relays")).relayCommands,
  },
  callback: {
    about: "webhooks of relay providers that report deliveries, bounces and complaints",
    load: async () => (await import("./commands/callbacks")).callbackCommands,
  },
  inbound: {
    about: "inbound email: bounces and complaints",
    load: async () => (await import("./commands/callbacks")).inboundCommands,
  },
  destination: {
    about: "rate and concurrency limits for direct delivery to recipients' domains",
    load: async () => (await import("./commands/destinations")).destinationCommands,
  },
  doctor: {
    about: "checks the installation and its surroundings, and says what to do about each fault",
    load: async () => (await import("./commands/installation/doctor")).doctor,
  },
  migrate: {
    about: "migrates the database to this version; does nothing if it is up to date",
    load: async () => (await import("./commands/installation/service")).migrate,
  },
  worker: {
    about: "delivers queued email until it receives SIGTERM or SIGINT (Ctrl-C), then drains for up to 25 s",
    load: async () => (await import("./commands/installation/service")).worker,
  },
  secret: {
    about: "the secrets that encrypt stored values and sign links",
    load: async () => (await import("./commands/data/secrets")).secretCommands,
  },
  backup: {
    about: "writes the whole installation to a file, while Backstamp runs",
    load: async () => (await import("./commands/data/backup")).backup,
  },
  restore: {
    about: "restores a backup into a new data directory or an empty database, and holds its queued email",
    load: async () => (await import("./commands/data/restore")).restore,
  },
  hold: {
    about: "holds all queued email of a copied or otherwise restored database, before a worker starts",
    load: async () => (await import("./commands/data/held")).hold,
  },
  release: {
    about: "releases or cancels the email that is held because the installation was restored from a backup",
    load: async () => (await import("./commands/data/held")).release,
  },
};

const isCommand = (loaded: Loaded): loaded is Command => typeof loaded.run === "function";

/** The command line with the commands of this group; the other groups have only their names. */
export async function createProgram(terminal: Terminal, word: string | undefined): Promise<CommanderCommand> {
  const program = new CommanderCommand(cli)
    .description("Manages a Backstamp installation: teams, users, keys, domains, relays and emails.")
    .exitOverride()
    .configureOutput({ writeOut: terminal.write, writeErr: terminal.writeError })
    .showHelpAfterError("Run it with --help to list the commands and options.")
    .addHelpText("after", about);
  for (const [name, { about, load }] of Object.entries(GROUPS)) {
    const loaded = name === word ? await load() : {};
    if (isCommand(loaded)) addCommand(program, name, loaded, terminal);
    else {
      const group = program.command(name).description(about);
      for (const [verb, command] of Object.entries(loaded)) addCommand(group, verb, command, terminal);
    }
  }
  return program;
}

/**
 * Runs one command line of the operator, and returns its exit code. Never rejects: errors are written to the
 * terminal. `worker` runs until a stop signal.
 */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const program = await createProgram(terminal, args[0]);
    if (args[0] !== undefined && Object.hasOwn(GROUPS, args[0])) await readDotEnv(terminal);
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitUsage;
    const isExit = error instanceof CommandExit;
    const fault = isExit ? error.cause : error;
    if (fault !== undefined) {
      const { explainFault } = await import("./explain-fault");
      terminal.writeError(`backstamp: ${explainFault(fault)}\n`);
    }
    return isExit ? error.code : exitFailed;
  }
}

async function readDotEnv({ env }: Terminal): Promise<void> {
  const { loadDotEnv } = await import("#server/platform/env/settings");
  const folder = fileURLToPath(new URL("../../..", import.meta.url));
  loadDotEnv(folder, env.NODE_ENV === "development" ? "development" : "production", env);
}
