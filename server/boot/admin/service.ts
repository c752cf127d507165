import type { Command } from "commander";
import postgres from "postgres";
import { isDatabaseAway } from "#db/faults";
import { migrateDatabase } from "#db/migrate";
import { readSettings } from "#server/env";
import { createLog } from "#server/log";
import { Refusal } from "../refusal";
import { onStopSignals } from "../signals";
import { stepBack } from "../step-back";
import { runWorker } from "../worker";
import { findLauncher, withDatabase } from "./session";
import { say } from "./terminal";

/** `migrate`, `worker`. */
export function addServiceCommands(program: Command): void {
  program
    .command("migrate")
    .description("brings the database's tables to this version; does nothing where they are")
    .addHelpText("after", "\nSeveral at once do no harm: one migrates, the others wait for it.")
    .action(async () => {
      await withDatabase(({ databaseUrl }) => migrateDatabase(databaseUrl));
      say("The database is at this version.");
    });

  program
    .command("worker")
    .description(
      "delivers queued mail until it is told to stop (SIGTERM, Ctrl-C), then drains for up to 25 s",
    )
    .addHelpText("after", WORKER_HELP)
    .action(work);
}

const WORKER_HELP = `
It needs DATABASE_URL and POSTHORN_URL, or a Posthorn that runs with this data directory, and sends by SMTP_URL.
Any number of workers may run on any number of machines. Standard output is a log, one JSON object a line.

Examples:
  DATABASE_URL=postgres://… POSTHORN_URL=https://mail.example.com SMTP_URL=smtp://smtp.example.com:587 \\
    npm run -s posthorn -- worker`;

async function work(): Promise<void> {
  // From the first moment, so that a stop while it starts is one in order, too.
  const told = new Promise<NodeJS.Signals>((resolve) => {
    onStopSignals({ first: async (signal) => resolve(signal), again: async () => process.exit(1) });
  });
  const { mode, databaseUrl } = await findWork();
  await requireTables(databaseUrl);
  const settings = { ...readSettings(process.env, mode), databaseUrl };
  const log = createLog(
    (line) => process.stdout.write(`${line}\n`),
    () => new Date(),
  );
  stepBack();
  const worker = await runWorker(settings, { log });
  log.info("worker.ready", { pid: process.pid, transport: settings.smtpUrl?.replace(/:.*/s, "") ?? "none" });
  log.info("worker.stopping", { signal: await told });
  await worker.stop();
  log.info("worker.stopped");
}

/** Whose queue it is, and the mode of whoever else drains it: two that differ would send by different ways. */
async function findWork(): Promise<{ mode: "dev" | "start"; databaseUrl: string }> {
  const { databaseUrl, dataDir } = readSettings(process.env, "dev");
  if (databaseUrl !== null)
    return { mode: process.env.NODE_ENV === "development" ? "dev" : "start", databaseUrl };
  const launcher = await findLauncher(dataDir);
  if (launcher)
    return { mode: launcher.purpose === "dev" ? "dev" : "start", databaseUrl: launcher.databaseUrl };
  throw new Refusal(
    `DATABASE_URL is not set, and no Posthorn runs with ${dataDir}: there is no queue to work on. ` +
      "Set DATABASE_URL, or start one with npm run dev or npm start.",
  );
}

// A database that is away is waited for by the worker itself; one without tables would be waited for in vain.
async function requireTables(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, connect_timeout: 5, onnotice: () => {}, fetch_types: false });
  try {
    await sql`select from workers limit 0`;
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
