/**
 * The command that runs the CLI, for texts that name one of its commands. The entry script of a packed
 * installation and of the image sets it.
 */
export const cli: string = process.env.BACKSTAMP_CLI || "npm run -s backstamp --";

/** The command that starts Backstamp in this mode. */
export const startCommandOf = (mode: string): string => {
  if (mode === "dev") return "npm run dev";
  return process.env.BACKSTAMP_CLI ? `${process.env.BACKSTAMP_CLI} start` : "npm start";
};
