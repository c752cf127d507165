import { Command } from "commander";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { findTeam } from "#server/services/teams";
import type { Team } from "#server/shared/wire/people/team";
import { OperatorError } from "../launcher/operator-error";
import { operatorCtx, type Session, type SessionOptions, withDatabase } from "./session";
import { type Output, printOutput, type Terminal } from "./terminal";

export const TEAM_OPTION = ["--team <team>", "id or name of the team (default: the first team)"] as const;

/** A command with the terminal that it runs in, which its subcommands share. */
export class AdminCommand extends Command {
  constructor(
    readonly terminal: Terminal,
    name: string,
  ) {
    super(name);
  }

  override createCommand(name: string): AdminCommand {
    return new AdminCommand(this.terminal, name);
  }
}

/**
 * Ends a command with this exit code: it has printed its result, or failed because of `cause`, which is then
 * printed.
 */
export class CommandExit extends Error {
  constructor(
    readonly code: number,
    options?: ErrorOptions,
  ) {
    super(`exit code ${code}`, options);
  }
}

/** Adds an option to every command of a group. */
export function addToAll(group: Command, [flags, description]: readonly [string, string]): void {
  for (const command of group.commands) command.option(flags, description);
}

/** The arguments of an action: those of its command, then the options, then the command. */
type Given = readonly unknown[];

const optionsOf = (given: Given) => given.at(-2) as { json?: true; team?: string };

/** Makes a command run with a database, and print what `run` returns. */
export function runInDatabase<Args extends Given>(
  command: AdminCommand,
  run: (session: Session, ...args: Args) => Promise<Output>,
  options: SessionOptions = {},
): void {
  command.action(async (...args: Args) => {
    const { terminal } = command;
    await withDatabase(
      terminal,
      async (session) => printOutput(terminal, await run(session, ...args), optionsOf(args).json === true),
      options,
    );
  });
}

/** The same for one team: that of `--team`, or the first team. */
export const runInTeam = <Args extends Given>(
  command: AdminCommand,
  run: (ctx: Ctx, team: Team, ...args: Args) => Promise<Output>,
): void =>
  runInDatabase(command, async ({ deps }, ...args: Args) => {
    const team = await findTeam(deps, optionsOf(args).team);
    try {
      return await run(operatorCtx(deps, team.id), team, ...args);
    } catch (error) {
      if (!(error instanceof AppError && error.code === "not_found")) throw error;
      throw new OperatorError(
        `${error.message} in team ${team.name}. Use --team for another team; team list lists them.`,
        { cause: error },
      );
    }
  });

/** Examples for `addHelpText`. */
export const examples = (...lines: string[]): ["after", string] => [
  "after",
  ["", lines.length === 1 ? "Example:" : "Examples:", ...lines.map((line) => `  ${line}`)].join("\n"),
];

/**
 * A hook that rejects a call without any of these options, such as `--daily-cap`, before it uses the
 * database.
 */
export const requireOption =
  (...flags: string[]) =>
  (command: Command): void => {
    const given = command.options.filter(
      (option) => command.getOptionValue(option.attributeName()) !== undefined,
    );
    if (!given.some(({ long }) => flags.includes(long ?? "")))
      command.error(`error: use ${flags.slice(0, -1).join(", ")} or ${flags.at(-1)}`);
  };
