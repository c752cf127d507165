import { createLog } from "#server/platform/log";
import { startEmbeddedPostgres } from "#server/startup/postgres/embedded";

/* Starts the embedded database in the given folder, prints its URL, and runs it until a stop signal. */
const log = createLog(
  (line) => process.stdout.write(`${line}\n`),
  () => new Date(),
);
const server = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? "", log, quick: true });
const beat = setInterval(() => {}, 1_000);
process.once("SIGTERM", async () => {
  clearInterval(beat);
  await server.stop();
});
process.stdout.write(
  `ready ${JSON.stringify({ url: server.url, pid: server.pid, pgdata: server.dataDir })}\n`,
);
