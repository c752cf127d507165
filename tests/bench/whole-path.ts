import type { HotSql } from "#db/client";
import type { AcceptCommands } from "./accept-child";
import type { BenchDatabase } from "./bench-database";
import type { DeliverCommands } from "./deliver-child";
import { press } from "./load";
import { cpuOfTree, findPostmaster } from "./processor-time";
import { nothingDue } from "./queue";
import { type Line, perSecond, plainLine } from "./report";
import { acceptTarget } from "./sample-email";
import { openSink } from "./sink";
import { type Child, startChild } from "./start-child";

const connections = 16;
/** Until the compiler has optimized the web process and the worker. */
const secondsToWarmUp = 15;
const seconds = 60;
const doneMaxMs = 180_000;
const pollMs = 250;
const dayMs = 86_400_000;

/**
 * What an email costs from its request until it is delivered: processor time of the web
 * process, the worker and PostgreSQL, without those of the client and of the receiving server. What the
 * database contains stays in it.
 */
export async function measureWholePath(database: BenchDatabase): Promise<Line[]> {
  const { hot } = database;
  const sink = await openSink();
  const web = await startChild<AcceptCommands>("accept-child.ts");
  const worker = await startChild<DeliverCommands>("deliver-child.ts");
  const smtpUrl = `smtp://127.0.0.1:${sink.port}`;
  try {
    const { serverPort } = await web.ask("open", { databaseUrl: database.url });
    const target = acceptTarget(serverPort, database.token);
    await worker.ask("startEngine", { databaseUrl: database.url, smtpUrl });
    await press({ ...target, connections, seconds: secondsToWarmUp });
    await nothingDue(hot, doneMaxMs, pollMs);

    const before = await readCpu(hot, web, worker);
    const startedMs = performance.now();
    const rate = await press({ ...target, connections, seconds });
    await nothingDue(hot, doneMaxMs, pollMs);
    const tookMs = performance.now() - startedMs;
    const after = await readCpu(hot, web, worker);
    await worker.ask("stopEngine");

    const emails = rate.perSecond * seconds;
    const spent = (name: keyof Cpu) => (after[name] - before[name]) / emails;
    const sum = spent("web") + spent("worker") + spent("postgres");
    const parts = `${spent("web").toFixed(2)} the web process, ${spent("worker").toFixed(2)} the worker, ${spent("postgres").toFixed(2)} PostgreSQL`;
    return [
      plainLine(
        "request to delivery, client and receiver on the same machine",
        perSecond(emails / (tookMs / 1_000), "emails"),
      ),
      plainLine("processor time of an email", `${sum.toFixed(2)} ms: ${parts}`),
      plainLine("emails a day and core", `${(dayMs / sum / 1_000_000).toFixed(0)} million`),
    ];
  } finally {
    await Promise.all([web.end(), worker.end()]);
    await sink.close();
  }
}

export type Cpu = { web: number; worker: number; postgres: number };

/** Processor time so far, in ms. */
export async function readCpu(
  hot: HotSql,
  web: Child<AcceptCommands>,
  worker: Child<DeliverCommands>,
): Promise<Cpu> {
  const [ofWeb, ofWorker] = await Promise.all([web.ask("usage"), worker.ask("usage")]);
  return { web: ofWeb.cpuMs, worker: ofWorker.cpuMs, postgres: cpuOfTree(await findPostmaster(hot)) };
}
