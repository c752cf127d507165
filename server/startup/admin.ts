import { text } from "node:stream/consumers";
import { askSecret } from "./admin/ask-secret";
import { runCommandLine } from "./admin/run";
import { onStopSignals } from "./launcher/signals";

// A closed pipe, for example to `head`, is not an error.
process.stdout.on("error", () => process.exit());
const writeError = (line: string) => void process.stderr.write(line);
// Uses the API of an installation, which may be elsewhere, so it has no database and no settings of one.
if (process.argv[2] === "template" && process.argv[3] === "push") {
  process.argv.splice(2, 2);
  await import("./push/push-templates.mjs");
} else
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    env: process.env,
    readInput: () => text(process.stdin),
    write: (line) => void process.stdout.write(line),
    writeError,
    ...(process.stdin.isTTY && {
      askSecret: (question: string) => askSecret(process.stdin, writeError, question),
    }),
    onStopSignals,
  });
