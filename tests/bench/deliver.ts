import type { Place } from "./bench-database";
import type { DeliverCommands } from "./deliver-child";
import { medianOf, medianRatio, runAlternately } from "./measure";
import { drained, queueEmails } from "./queue";
import { comparedLine, type Line, perSecond, plainLine } from "./report";
import { openSink } from "./sink";
import { type Child, startChild } from "./start-child";

const emailsPerRun = 6_000;
/** Until the compiler has optimized both sides: a running service is measured, not its first seconds. */
const warmUpEmails = 8_000;
const connections = 10;
const runMaxMs = 60_000;

/**
 * Delivery from claim to recorded result in one process, beside the usual loop in another. Neither side signs
 * with DKIM.
 */
export async function measureDelivery(place: Place): Promise<Line[]> {
  const database = await place.openDatabase();
  const { hot } = database;
  const sink = await openSink();
  const engine = await startChild<DeliverCommands>("deliver-child.ts");
  const plain = await startChild<DeliverCommands>("deliver-child.ts");
  const smtpUrl = `smtp://127.0.0.1:${sink.port}?pool=${connections}`;
  const cpu = { engine: [] as number[], plain: [] as number[] };

  const deliver = async (emails: number): Promise<number> => {
    await hot`truncate emails, email_bodies, email_events, deliveries, queue`;
    await queueEmails(hot, database.teamId, emails);
    const startedMs = performance.now();
    await engine.ask("startEngine", { databaseUrl: database.url, smtpUrl });
    await drained(hot, runMaxMs);
    const tookMs = performance.now() - startedMs;
    await engine.ask("stopEngine");
    return emails / (tookMs / 1000);
  };
  const sendPlain = async (emails: number): Promise<number> => {
    const { tookMs } = await plain.ask("sendPlain", { port: sink.port, connections, emails });
    return emails / (tookMs / 1000);
  };

  try {
    const rates = await runAlternately({
      engine: ({ isWarmUp }) => withCpu(engine, cpu.engine, isWarmUp, deliver),
      plain: ({ isWarmUp }) => withCpu(plain, cpu.plain, isWarmUp, sendPlain),
    });
    const memory = await engine.ask("usage");
    return [
      comparedLine({
        what: "delivery, claim to recorded result, one process, no DKIM on either side",
        measured: perSecond(medianOf(rates.engine), "emails"),
        floor: `\`nodemailer.sendMail\` in a loop, pool of ${connections}, to a minimal sink: ${perSecond(medianOf(rates.plain), "emails")}`,
        ratio: medianRatio(rates.engine, rates.plain),
        budget: { atLeast: 2 },
      }),
      plainLine(
        "delivery, processor time of that process",
        `${medianOf(cpu.engine).toFixed(2)} ms per email`,
        `the loop: ${medianOf(cpu.plain).toFixed(2)} ms`,
        medianRatio(cpu.plain, cpu.engine),
      ),
      comparedLine({
        what: "memory of the engine at full speed, of 300 MB",
        measured: `${Math.round(memory.rssMb)} MB`,
        floor: "",
        ratio: memory.rssMb / 300,
        budget: { atMost: 1 },
      }),
    ];
  } finally {
    await Promise.all([engine.end(), plain.end()]);
    await sink.close();
    await database.drop();
  }
}

async function withCpu(
  child: Child<DeliverCommands>,
  kept: number[],
  isWarmUp: boolean,
  run: (emails: number) => Promise<number>,
): Promise<number> {
  const emails = isWarmUp ? warmUpEmails : emailsPerRun;
  const before = await child.ask("usage");
  const rate = await run(emails);
  const after = await child.ask("usage");
  if (!isWarmUp) kept.push((after.cpuMs - before.cpuMs) / emails);
  return rate;
}
