import { tick } from "#server/delivery/tick";
import { readSettings } from "#server/platform/env/settings";
import { createLog } from "#server/platform/log";
import { buildDeps } from "#server/startup/deps";
import { openTransport } from "#server/startup/worker";

/*
 * One bounded delivery round in a separate process, composed like a serverless function: it can be killed or
 * frozen in the middle. The process ends with the round.
 */
const roundMs = 6_000;
const log = createLog(
  (line) => process.stdout.write(`${line}\n`),
  () => new Date(),
);
process.on("disconnect", () => process.exit());
const settings = readSettings(process.env, "start");
if (settings.databaseUrl === null) throw new Error("DATABASE_URL is missing");
const connected = { ...settings, databaseUrl: settings.databaseUrl };
const built = buildDeps(connected, { log, applicationName: "chaos tick", wake: () => {} });
const transport = openTransport(connected, built.deps);
process.send?.("begun");
await tick({ ...built.deps, transport }, { budgetMs: roundMs });
await transport?.close();
await built.close();
process.exit(0);
