import { startEmbeddedPostgres } from "#server/boot/embedded";
import { createLog } from "#server/log";

/* Starts the embedded database in the folder given, says where it is, and holds it until told to stop. */
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
