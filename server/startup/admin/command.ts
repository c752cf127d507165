import { type Command as CommanderCommand, Option } from "commander";
import type { Ctx } from "#server/deps";
import type { Team } from "#server/shared/wire/people/team";
import type { Session } from "./connection";
import { type Output, printOutput, type Terminal } from "./terminal";

/** Converts the text of an argument. Throws commander's InvalidArgumentError, which says what is valid. */
export type Parse<T> = (text: string, earlier: T | undefined) => T;

type AnyParse = (text: string, earlier: never) => unknown;

/** An argument or option of a command, with a value of this type. */
export type Param<T> = {
  kind: "argument" | "option";
  about: string;
  isRequired: boolean;
  /** Null: an option without a value. */
  value: { name: string; parse: AnyParse } | null;
  default?: T;
};

type Params = Record<string, Param<unknown>>;
type Values<P extends Params> = { [Name in keyof P]: P[Name] extends Param<infer T> ? T : never };

/** A positional argument. Those of a command have the order of their names in `params`. */
export const argument = <T>(about: string, parse: Parse<T>): Param<T> => ({
  kind: "argument",
  about,
  isRequired: true,
  value: { name: "", parse },
});

export const optionalArgument = <T>(about: string, parse: Parse<T>): Param<T | undefined> => ({
  ...argument(about, parse),
  isRequired: false,
});

/** An option whose flag is its name in `params`: `dailyCap` is `--daily-cap`. */
export const option = <T>(name: string, about: string, parse: Parse<T>): Param<T | undefined> => ({
  kind: "option",
  about,
  isRequired: false,
  value: { name, parse },
});

export const requiredOption = <T>(name: string, about: string, parse: Parse<T>): Param<T> => ({
  ...(option(name, about, parse) as Param<T>),
  isRequired: true,
});

export const optionWithDefault = <T>(name: string, about: string, parse: Parse<T>, value: T): Param<T> => ({
  ...(option(name, about, parse) as Param<T>),
  default: value,
});

export const flag = (about: string): Param<boolean> => ({
  kind: "option",
  about,
  isRequired: false,
  value: null,
});

type Description<P extends Params> = {
  /** In the list of its group. That of a command without a group is in run.ts. */
  about?: string;
  params?: P;
  /** Text below the list of options. */
  help?: string;
  /** Names of options of which at least one is needed. */
  needsOneOf?: readonly (keyof P & string)[];
};

/** A command line command: how it is called, and what it does. */
export type Command = Description<Params> & {
  /** Returns what is printed, if anything. */
  run(terminal: Terminal, values: Values<Params>): Promise<Output | undefined>;
};

/** A command that uses no database, or opens it by itself. */
export const command = <P extends Params>(
  description: Description<P> & {
    run(terminal: Terminal, values: Values<P>): Promise<Output | undefined>;
  },
): Command => description as unknown as Command;

/** Ends a command with an exit code: after it has printed its result, or because of `cause`. */
export class CommandExit extends Error {
  constructor(
    readonly code: number,
    options?: ErrorOptions,
  ) {
    super(`exit code ${code}`, options);
  }
}

/** A command that runs with the database. */
export const inDatabase = <P extends Params>({
  run,
  isUnchanged,
  ...description
}: Description<P> & {
  /** A stopped embedded database is used as it is: nothing is created or migrated. */
  isUnchanged?: boolean;
  run(session: Session, values: Values<P>, terminal: Terminal): Promise<Output>;
}): Command =>
  command<P>({
    ...description,
    run: async (terminal, values) => {
      const { withDatabase } = await import("./session");
      return withDatabase(terminal, (session) => run(session, values, terminal), isUnchanged);
    },
  });

const TEAM = option("team", "id or name of the team (default: the first team)", (text) => text);

/** The same for one team: that of `--team`, or the first team. */
export function inTeam<P extends Params>({
  run,
  params,
  ...description
}: Description<P> & {
  run(ctx: Ctx, values: Values<P>, team: Team, terminal: Terminal): Promise<Output>;
}): Command {
  return inDatabase({
    ...(description as Omit<Description<P & { team: typeof TEAM }>, "params">),
    params: { ...(params as P), team: TEAM },
    run: async (session, values, terminal) => {
      const { withTeam } = await import("./session");
      const given = values as Values<P> & { team: string | undefined };
      return withTeam(session, given.team, (ctx, team) => run(ctx, given, team, terminal));
    },
  });
}

/** A parsed value. Commander replaces null, which is a value here, by an empty text. */
type Parsed = { value: unknown };

/** Adds a command to its group, with `--json`. */
export function addCommand(
  group: CommanderCommand,
  name: string,
  { about = "", params = {}, help, needsOneOf = [], run }: Command,
  terminal: Terminal,
): void {
  const added = group.command(name).description(about);
  if (help !== undefined) added.addHelpText("after", help);
  for (const [param, { kind, about, isRequired, value, default: fallback }] of Object.entries(params)) {
    const kebab = param.replace(/[A-Z0-9]+/g, (part) => `-${part.toLowerCase()}`);
    const parse = (text: string, earlier?: Parsed): Parsed => ({
      value: value?.parse(text, earlier?.value as never),
    });
    if (kind === "argument") added.argument(isRequired ? `<${kebab}>` : `[${kebab}]`, about, parse);
    else if (value === null) added.option(`--${kebab}`, about);
    else {
      const made = new Option(`--${kebab} <${value.name}>`, about).argParser(parse);
      if (fallback !== undefined) made.default({ value: fallback }, String(fallback));
      added.addOption(made.makeOptionMandatory(isRequired));
    }
  }
  added.option("--json", "print the result as one JSON document");
  const oneOf = added.options.filter((made) => needsOneOf.includes(made.attributeName()));
  added.hook("preAction", () => {
    if (oneOf.length > 0 && oneOf.every((made) => added.getOptionValue(made.attributeName()) === undefined))
      added.error(`error: use ${oneOf.map(({ long }) => long).join(" or ")}`);
  });
  added.action(async () => {
    const positional = [...added.processedArgs];
    const values = Object.entries(params).map(([param, { kind, value }]) => {
      const given = kind === "argument" ? positional.shift() : added.getOptionValue(param);
      return [param, value === null ? given === true : (given as Parsed | undefined)?.value];
    });
    const output = await run(terminal, Object.fromEntries(values));
    if (output) printOutput(terminal, output, added.getOptionValue("json") === true);
    if (output?.exitCode) throw new CommandExit(output.exitCode);
  });
}

/** Examples for the help text of a command. */
export const examples = (...lines: string[]): string =>
  ["", "Examples:", ...lines.map((line) => `  ${line}`)].join("\n");

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** The options that were given. */
export const definedOf = <T extends object>(values: T): Defined<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
