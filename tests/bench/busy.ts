import type { AcceptCommands } from "./accept-child";
import type { Place } from "./bench-database";
import type { DeliverCommands } from "./deliver-child";
import { press } from "./load";
import { compareSides } from "./measure";
import { queueEmails } from "./queue";
import { type Line, perSecond } from "./report";
import { acceptTarget } from "./sample-email";
import { openSink } from "./sink";
import { startChild } from "./start-child";

const connections = 16;
const secondsPerRun = 3;
/** Until the compiler has optimized what both rates use. */
const secondsToWarmUp = 6;
/** More than the engine delivers in one run. */
const backlog = 10_000;

/** How much a busy delivery engine slows down accepting on the same machine. */
export async function measureBusy(place: Place): Promise<Line[]> {
  const database = await place.openDatabase();
  const { hot } = database;
  const sink = await openSink();
  const web = await startChild<AcceptCommands>("accept-child.ts");
  const engine = await startChild<DeliverCommands>("deliver-child.ts");
  try {
    const { serverPort } = await web.ask("open", { databaseUrl: database.url });
    const target = acceptTarget(serverPort, database.token);
    const smtpUrl = `smtp://127.0.0.1:${sink.port}`;
    const accept = async ({ isWarmUp }: { isWarmUp: boolean }) => {
      const seconds = isWarmUp ? secondsToWarmUp : secondsPerRun;
      return (await press({ ...target, connections, seconds })).perSecond;
    };
    const empty = () => hot`truncate emails, email_bodies, email_events, deliveries, queue`;
    return [
      await compareSides({
        what: `accept at the Node server, ${connections} connections, while the engine delivers at full speed`,
        async measured(run) {
          await empty();
          await queueEmails(hot, database.teamId, backlog);
          await engine.ask("startEngine", { databaseUrl: database.url, smtpUrl });
          const rate = await accept(run);
          await engine.ask("stopEngine");
          return rate;
        },
        async reference(run) {
          await empty();
          return accept(run);
        },
        beside: "while it is idle",
        format: (rate) => perSecond(rate, "emails"),
        budget: { atLeast: 0.7 },
      }),
    ];
  } finally {
    await Promise.all([web.end(), engine.end()]);
    await sink.close();
    await database.drop();
  }
}
