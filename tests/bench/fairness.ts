import { setTimeout as wait } from "node:timers/promises";
import { openDatabase } from "#db/client";
import { queueMany } from "../support/database/queue-many";
import type { AcceptCommands } from "./accept-child";
import { addTeam, type BenchDatabase, type Place } from "./bench-database";
import type { DeliverCommands } from "./deliver-child";
import { medianOf } from "./measure";
import { comparedLine, type Line, milliseconds } from "./report";
import { acceptTarget, emailHtml, SENDER_DOMAIN } from "./sample-email";
import { openSink } from "./sink";
import { startChild } from "./start-child";

/** Queueing a million takes minutes; fewer show whether the part works. */
const backlog = Number(process.env.BENCH_MAILS ?? 1_000_000);
const queuedAtOnce = 50_000;
const singles = 40;
const singlesToWarmUp = 10;
/** Random, so that no single email arrives in step with the claims. */
const pauseMsMax = 200;
/** Until the engine delivers at full speed. */
const fullSpeedAfterMs = 5_000;
const domain = "single.example";

/**
 * How long a single email of one team needs from its request to the end of its SMTP dialogue while another
 * team has a long queue.
 */
export async function measureFairness(place: Place): Promise<Line[]> {
  const database = await place.openDatabase();
  const arrivals = new Map<string, () => void>();
  const sink = await openSink((recipient) => arrivals.get(recipient)?.());
  const web = await startChild<AcceptCommands>("accept-child.ts");
  const engine = await startChild<DeliverCommands>("deliver-child.ts");
  try {
    const { token } = await addTeam(database.ctx, domain);
    const { serverPort } = await web.ask("open", { databaseUrl: database.url });
    const { url, headers } = acceptTarget(serverPort, token);
    await engine.ask("startEngine", { databaseUrl: database.url, smtpUrl: `smtp://127.0.0.1:${sink.port}` });

    const sendOne = async (n: number): Promise<number> => {
      const to = `single-${n}@customers.example`;
      const arrived = new Promise<void>((resolve) => arrivals.set(`RCPT TO:<${to}>`, resolve));
      const body = JSON.stringify({ from: `ann@${domain}`, to, subject: "Hello", html: emailHtml(n) });
      const startedMs = performance.now();
      const response = await fetch(url, { method: "POST", headers, body });
      if (!response.ok) throw new Error(`The email was rejected: ${await response.text()}`);
      await arrived;
      return performance.now() - startedMs;
    };
    let last = 0;
    const waitsOf = async (count: number): Promise<number[]> => {
      const waitsMs: number[] = [];
      while (waitsMs.length < count) {
        await wait(Math.random() * pauseMsMax);
        waitsMs.push(await sendOne(++last));
      }
      return waitsMs;
    };

    await waitsOf(singlesToWarmUp);
    const idle = await waitsOf(singles);
    await queueBacklog(database);
    await wait(fullSpeedAfterMs);
    const busy = await waitsOf(singles);
    const format = (waitsMs: number[]) =>
      `${milliseconds(medianOf(waitsMs))}, p95 ${milliseconds(p95Of(waitsMs))}`;
    return [
      comparedLine({
        what: `a single email, from request to delivery, beside ${backlog.toLocaleString("en")} of another team`,
        measured: format(busy),
        floor: `beside an empty queue: ${format(idle)}`,
        ratio: medianOf(busy) / medianOf(idle),
        budget: { atMost: 2 },
      }),
    ];
  } finally {
    await Promise.all([web.end(), engine.end()]);
    await sink.close();
    await database.drop();
  }
}

/** The engine delivers them meanwhile. */
async function queueBacklog({ url, teamId }: BenchDatabase): Promise<void> {
  const { hot, close } = openDatabase(url, { connectionsMax: 1 });
  await hot.unsafe("set statement_timeout = 0");
  for (let left = backlog; left > 0; left -= queuedAtOnce)
    await queueMany(hot, {
      teamId,
      domain: SENDER_DOMAIN,
      count: Math.min(left, queuedAtOnce),
      html: emailHtml(1),
    });
  await hot.unsafe("vacuum analyze emails, email_bodies, deliveries");
  await close();
}

const p95Of = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;
