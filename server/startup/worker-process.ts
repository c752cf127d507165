import { readSettings } from "#server/platform/env/settings";
import { createProcessLog } from "#server/platform/process-log";
import { limitHeapGrowth } from "./launcher/heap-growth";
import { lowerPriority } from "./launcher/lower-priority";
import { EMBEDDED } from "./supervise";
import { runWorker } from "./worker";

/*
 * The delivery loop in its own process, which `start` runs next to the web process. It ends on SIGTERM or
 * when the launcher has exited. It ignores SIGINT and SIGHUP of the terminal, because the launcher handles
 * them and stops all parts in order.
 */
const log = createProcessLog();
process.stdout.on("error", () => {});
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});

lowerPriority();
limitHeapGrowth();
const settings = readSettings(process.env, "start");
if (settings.databaseUrl === null) throw new Error("DATABASE_URL is missing. The launcher must set it.");
if (settings.secret === null) throw new Error("BACKSTAMP_SECRET is missing. The launcher must set it.");
const worker = await runWorker(
  { ...settings, databaseUrl: settings.databaseUrl },
  { log, isEmbedded: process.argv.includes(EMBEDDED) },
);

let isStopping = false;
const stop = async (signal?: string) => {
  if (isStopping) return;
  isStopping = true;
  log.info("worker.stopping", { signal: signal ?? "the launcher has exited" });
  await worker.stop().finally(() => process.exit());
};
process.on("SIGTERM", stop);
process.on("disconnect", () => stop());
if (process.connected) process.send?.("started");
else await stop();
