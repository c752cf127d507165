import { buildDeps } from "#server/boot/deps";
import { openTransport } from "#server/boot/worker";
import { readSettings } from "#server/env";
import { createLog } from "#server/log";
import { tick } from "#server/worker/tick";

/*
 * One bounded round of delivery in a process of its own, composed as a function of a platform does it: what may be killed
 * or frozen in the middle. It ends when the round has ended.
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
