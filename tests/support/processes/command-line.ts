import { runCommandLine } from "#server/startup/admin/run";
import type { StartOptions } from "./processes";

/** How a command ended, and its output. */
export type CommandResult = { code: number; stdout: string; stderr: string };

/**
 * Runs a command line of the operator in this process, with its own environment and streams. What only a
 * process shows (exit code, signals, closed pipes, kills) needs `runProgram("server/startup/admin.ts")`.
 */
export async function runCommand(
  args: readonly string[],
  { env = {}, input = "" }: Pick<StartOptions, "env" | "input">,
): Promise<CommandResult> {
  let stdout = "";
  let stderr = "";
  const code = await runCommandLine(args, {
    env: { ...env },
    readInput: async () => input,
    write(text) {
      stdout += text;
    },
    writeError(text) {
      stderr += text;
    },
    onStopSignals() {},
  });
  return { code, stdout, stderr };
}

/** Runs commands of an installation with these settings, and reads what `--json` prints. */
export function commandsOf(settings: () => StartOptions["env"]) {
  const cli = (args: readonly string[], env: StartOptions["env"] = {}, input = "") =>
    runCommand(args, { env: { ...settings(), ...env }, input });
  return {
    cli,
    /** A rejected command is an error. */
    async cliJson(args: readonly string[], env: StartOptions["env"] = {}) {
      const { code, stdout, stderr } = await cli([...args, "--json"], env);
      if (code !== 0) throw new Error(stderr);
      return JSON.parse(stdout);
    },
  };
}
