import { openDatabase } from "#db/client";
import { acceptTarget } from "./accept";
import type { AcceptCommands } from "./accept-child";
import type { Place } from "./bench-database";
import { startChild } from "./child";
import type { DeliverCommands } from "./deliver-child";
import { press } from "./load";
import { medianOf, medianRatio, runAlternately } from "./measure";
import { queueEmails } from "./queue";
import { comparedLine, type Line, perSecond } from "./report";
import { openSink } from "./sink";

const connections = 16;
const secondsPerRun = 3;
/** Until the compiler has optimized what both rates use. */
const secondsToWarmUp = 6;
/** More than the engine delivers in one run. */
const backlog = 10_000;

/** How much a busy delivery engine slows down accepting on the same machine. */
export async function measureBusy(place: Place): Promise<Line[]> {
  const database = await place.openDatabase();
  const { hot, close } = openDatabase(database.url, { connectionsMax: 4 });
  const sink = await openSink();
  const web = startChild<AcceptCommands>("accept-child.ts");
  const engine = startChild<DeliverCommands>("deliver-child.ts");
  try {
    const { serverPort } = await web.ask("open", { databaseUrl: database.url });
    const target = acceptTarget(serverPort, database.token);
    const smtpUrl = `smtp://127.0.0.1:${sink.port}`;
    const accept = async (seconds: number) => (await press({ ...target, connections, seconds })).perSecond;
    const rates = await runAlternately({
      busy: async ({ isWarmUp }) => {
        await hot`truncate emails, email_bodies, email_events, deliveries`;
        await queueEmails(hot, database.teamId, backlog);
        await engine.ask("startEngine", { databaseUrl: database.url, smtpUrl });
        const rate = await accept(isWarmUp ? secondsToWarmUp : secondsPerRun);
        await engine.ask("stopEngine", undefined as never);
        return rate;
      },
      idle: async ({ isWarmUp }) => {
        await hot`truncate emails, email_bodies, email_events, deliveries`;
        return accept(isWarmUp ? secondsToWarmUp : secondsPerRun);
      },
    });
    return [
      comparedLine({
        what: `accept at the Node server, ${connections} connections, while the engine delivers at full speed`,
        measured: perSecond(medianOf(rates.busy), "emails"),
        floor: `while it is idle: ${perSecond(medianOf(rates.idle), "emails")}`,
        ratio: medianRatio(rates.busy, rates.idle),
        budget: { atLeast: 0.7 },
      }),
    ];
  } finally {
    await Promise.all([web.end(), engine.end()]);
    await sink.close();
    await close();
    await database.drop();
  }
}
