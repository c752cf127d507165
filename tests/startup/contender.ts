import { acquireLock } from "#server/startup/launcher/lock";

/*
 * A process that acquires the lock of the folder in its argument on a line of standard input, and prints the
 * result.
 */

const [, , folder = ""] = process.argv;
process.stdout.write("ready\n");
process.stdin.once("data", async () => {
  const taken = await acquireLock(folder, "test");
  process.stdout.write(`${"lock" in taken ? "taken" : `held by ${taken.holder.pid}`}\n`);
});
process.stdin.on("end", () => process.exit());
