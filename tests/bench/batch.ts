import type { AcceptCommands } from "./accept-child";
import type { Place } from "./bench-database";
import { press } from "./load";
import { compareSides, type Side } from "./measure";
import { type Line, perSecond } from "./report";
import { acceptTarget, emailBody } from "./sample-email";
import { startChild } from "./start-child";

const emailsPerBatch = 100;
const connections = { singles: 16, batches: 4 };
const secondsPerRun = 4;
const secondsToWarmUp = 8;

/** Emails in batches beside the same emails one by one. */
export async function measureBatch(place: Place): Promise<Line[]> {
  const database = await place.openDatabase();
  const web = await startChild<AcceptCommands>("accept-child.ts");
  try {
    const { serverPort } = await web.ask("open", { databaseUrl: database.url });
    const single = acceptTarget(serverPort, database.token);
    const emails = Array.from({ length: emailsPerBatch }, (_, n) => emailBody(n));
    const batch = { ...single, url: `${single.url}/batch`, body: JSON.stringify(emails) };
    const rateOf =
      (target: typeof single, atOnce: number, perRequest: number): Side =>
      async ({ isWarmUp }) => {
        await database.hot`truncate emails, email_bodies, email_events, deliveries`;
        const seconds = isWarmUp ? secondsToWarmUp : secondsPerRun;
        return (await press({ ...target, connections: atOnce, seconds })).perSecond * perRequest;
      };
    return [
      await compareSides({
        what: `accept in batches of ${emailsPerBatch}, ${connections.batches} connections`,
        measured: rateOf(batch, connections.batches, emailsPerBatch),
        reference: rateOf(single, connections.singles, 1),
        beside: `one by one, ${connections.singles} connections`,
        format: (rate) => perSecond(rate, "emails"),
        budget: { atLeast: 6 },
      }),
    ];
  } finally {
    await web.end();
    await database.drop();
  }
}
