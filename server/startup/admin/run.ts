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

/** The groups of commands, and commands without a group, by their first word. */
const ABOUT = {
  team: "teams, each with its own keys, domains and emails",
  user: "users of the console",
  operator: "users who operate the installation",
  key: "API keys",
  domain: "domains that a team sends from",
  email: "emails and their deliveries",
  request: "API requests and SMTP submissions of seven days",
  webhook: "endpoints that events are sent to",
  address: "what is stored for a recipient: export it, or erase it everywhere",
  import: "suppressed addresses from another provider",
  queue: "the queue of the whole installation, of a team, or of a sender domain",
  relay: "SMTP servers of providers that send email for all teams, one team, or one domain",
  callback: "webhooks of relay providers that report deliveries, bounces and complaints",
  inbound: "inbound email: bounces and complaints",
  destination: "destinations of direct delivery: their limits, and what waits for them",
  reply: "rules for replies of mail servers: what they mean, and whether the email is retried or bounces",
  doctor: "checks the installation and its surroundings, and says what to do about each fault",
  migrate: "migrates the database to this version; does nothing if it is up to date",
  worker: "delivers queued email until it receives SIGTERM or SIGINT (Ctrl-C), then drains for up to 25 s",
  secret: "the secrets that encrypt stored values and sign links",
  backup: "writes the whole installation to a file, while Backstamp runs",
  restore: "restores a backup into a new data directory or an empty database, and holds its queued email",
  hold: "holds all queued email of a copied or otherwise restored database, before a worker starts",
  release: "releases or cancels the email that is held because the installation was restored from a backup",
};

/** Only the called group is loaded, because loading takes most of the time. */
const LOAD: Record<keyof typeof ABOUT, () => Promise<Loaded>> = {
  team: () => import("./commands/teams").then((module) => module.teamCommands),
  user: () => import("./commands/users").then((module) => module.userCommands),
  operator: () => import("./commands/installation/operators").then((module) => module.operatorCommands),
  key: () => import("./commands/keys").then((module) => module.keyCommands),
  domain: () => import("./commands/domains").then((module) => module.domainCommands),
  email: () => import("./commands/emails").then((module) => module.emailCommands),
  request: () => import("./commands/activity").then((module) => module.requestCommands),
  webhook: () => import("./commands/activity").then((module) => module.webhookCommands),
  address: () => import("./commands/data/addresses").then((module) => module.addressCommands),
  import: () => import("./commands/data/import").then((module) => module.importCommands),
  queue: () => import("./commands/installation/queue").then((module) => module.queueCommands),
  relay: () => import("./commands/relays").then((module) => module.relayCommands),
  callback: () => import("./commands/callbacks").then((module) => module.callbackCommands),
  inbound: () => import("./commands/callbacks").then((module) => module.inboundCommands),
  destination: () => import("./commands/destinations").then((module) => module.destinationCommands),
  reply: () => import("./commands/destinations").then((module) => module.replyCommands),
  doctor: () => import("./commands/installation/doctor").then((module) => module.doctor),
  migrate: () => import("./commands/installation/service").then((module) => module.migrate),
  worker: () => import("./commands/installation/service").then((module) => module.worker),
  secret: () => import("./commands/data/secrets").then((module) => module.secretCommands),
  backup: () => import("./commands/data/backup").then((module) => module.backup),
  restore: () => import("./commands/data/restore").then((module) => module.restore),
  hold: () => import("./commands/data/held").then((module) => module.hold),
  release: () => import("./commands/data/held").then((module) => module.release),
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
  for (const name of Object.keys(ABOUT) as (keyof typeof ABOUT)[]) {
    const loaded = name === word ? await LOAD[name]() : {};
    if (isCommand(loaded)) addCommand(program, name, { ...loaded, about: ABOUT[name] }, terminal);
    else {
      const group = program.command(name).description(ABOUT[name]);
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
    if (args[0] !== undefined && Object.hasOwn(ABOUT, args[0])) await readDotEnv(terminal);
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
