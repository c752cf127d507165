import { readSettings } from "#server/env";
import { createLog } from "#server/log";
import { stepBack } from "./step-back";
import { runWorker } from "./worker";

/*
 * The delivery loop in a process of its own, as `start` runs it beside the web process. It ends when the launcher tells
 * it to or is gone; a Ctrl-C in the terminal is the launcher's to understand, which stops things in order.
 */
const log = createLog(
  (line) => process.stdout.write(`${line}\n`),
  () => new Date(),
);
process.stdout.on("error", () => {});
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});

stepBack();
const settings = readSettings(process.env, "start");
if (settings.databaseUrl === null) throw new Error("DATABASE_URL is missing: the launcher hands it over.");
if (settings.secret === null) throw new Error("POSTHORN_SECRET is missing: the launcher hands it over.");
const worker = await runWorker({ ...settings, databaseUrl: settings.databaseUrl }, { log });

let isStopping = false;
const stop = async () => {
  if (isStopping) return;
  isStopping = true;
  await worker.stop().finally(() => process.exit());
};
process.on("SIGTERM", stop);
process.on("disconnect", stop);
if (process.connected) process.send?.("started");
else await stop();
