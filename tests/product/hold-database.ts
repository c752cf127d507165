import { createLog } from "#server/platform/log";
import { acquireLock } from "#server/startup/launcher/lock";
import { startEmbeddedPostgres } from "#server/startup/postgres/embedded";

/*
 * Locks the given data directory, starts its embedded database, prints the URL, and runs it until a stop
 * signal. With the option --adopt it may use the cluster of another data directory.
 */
const [dataDir = "", option] = process.argv.slice(2);
const log = createLog(
  (line) => process.stdout.write(`${line}\n`),
  () => new Date(),
);
const taken = await acquireLock(dataDir, "test");
if ("holder" in taken) throw new Error(`locked by ${taken.holder.pid}`);
const server = await startEmbeddedPostgres({ dataDir, log, quick: true, shouldAdopt: option === "--adopt" });
const beat = setInterval(() => {}, 1_000);
process.once("SIGTERM", async () => {
  clearInterval(beat);
  await server.stop();
  await taken.lock.release();
});
process.stdout.write(
  `ready ${JSON.stringify({ url: server.url, pid: server.pid, pgdata: server.dataDir })}\n`,
);
