import { fileURLToPath } from "node:url";
import { CommanderError } from "commander";
import { cli, startCommandOf } from "#server/platform/env/cli";
import { loadDotEnv, SettingsError } from "#server/platform/env/settings";
import { AppError } from "#server/platform/errors";
import { explainDatabaseFault } from "../install/database-faults";
import { OperatorError } from "../launcher/operator-error";
import { AdminCommand, addToAll, CommandExit } from "./command";
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

type Group = (program: AdminCommand) => void;

const loadService = async (): Promise<Group> => (await import("./commands/service")).addServiceCommands;

const loadBackups = async (): Promise<Group> => (await import("./commands/data/backups")).addBackupCommands;

/** The command groups by their first word. Loading only the called group halves the startup time. */
const GROUPS: Record<string, () => Promise<Group>> = {
  key: async () => (await import("./commands/keys")).addKeyCommands,
  domain: async () => (await import("./commands/domains")).addDomainCommands,
  team: async () => (await import("./commands/teams")).addTeamCommands,
  user: async () => (await import("./commands/users")).addUserCommands,
  operator: async () => (await import("./commands/installation/operators")).addOperatorCommands,
  address: async () => (await import("./commands/data/addresses")).addAddressCommands,
  email: async () => (await import("./commands/emails")).addEmailCommands,
  request: async () => (await import("./commands/requests")).addRequestCommands,
  webhook: async () => (await import("./commands/webhooks")).addWebhookCommands,
  queue: async () => (await import("./commands/installation/queue")).addQueueCommands,
  relay: async () => (await import("./commands/relays")).addRelayCommands,
  destination: async () => (await import("./commands/destinations")).addDestinationCommands,
  callback: async () => (await import("./commands/callbacks")).addCallbackCommands,
  inbound: async () => (await import("./commands/callbacks")).addInboundCommands,
  doctor: async () => (await import("./commands/installation/doctor")).addDoctorCommand,
  import: async () => (await import("./commands/data/import")).addImportCommands,
  secret: async () => (await import("./commands/data/secrets")).addSecretCommands,
  migrate: loadService,
  worker: loadService,
  backup: loadBackups,
  restore: loadBackups,
  hold: loadBackups,
  release: loadBackups,
};

/**
 * The groups to load for the first word of a command line. All of them for an unknown word, for the help
 * text.
 */
function findGroups(word = ""): (() => Promise<Group>)[] {
  const load = Object.hasOwn(GROUPS, word) ? GROUPS[word] : undefined;
  return load ? [load] : [...new Set(Object.values(GROUPS))];
}

/**
 * Runs one command line of the operator, and returns its exit code. Never rejects: errors are written to the
 * terminal. `worker` runs until a stop signal.
 */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = new AdminCommand(terminal, cli)
    .description("Manages a Backstamp installation: teams, users, keys, domains, relays and emails.")
    .exitOverride()
    .configureOutput({ writeOut: terminal.write, writeErr: terminal.writeError })
    .showHelpAfterError("Run it with --help to list the commands and options.")
    .addHelpText("after", about);
  try {
    loadDotEnv(
      fileURLToPath(new URL("../../..", import.meta.url)),
      terminal.env.NODE_ENV === "development" ? "development" : "production",
      terminal.env,
    );
    for (const load of findGroups(args[0])) (await load())(program);
    for (const group of program.commands)
      addToAll(group, ["--json", "print the result as one JSON document"]);
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitUsage;
    const isExit = error instanceof CommandExit;
    const fault = isExit ? error.cause : error;
    if (fault !== undefined) terminal.writeError(`backstamp: ${explainFault(fault)}\n`);
    return isExit ? error.code : exitFailed;
  }
}

/** Formats an error for the operator's terminal: what is wrong and, if known, how to fix it. */
function explainFault(error: unknown): string {
  if (error instanceof AppError || error instanceof OperatorError || error instanceof SettingsError)
    return error.message;
  if (!(error instanceof Error)) return String(error);
  const explained = explainDatabaseFault(error);
  if (explained !== null) return explained;
  const root = error.cause instanceof Error ? error.cause : error;
  return `Unexpected error: ${root.message || root.name}`;
}
