import { medianOf, medianRatio, runAlternately } from "../measure";
import { comparedLine, type Line, perSecond } from "../report";
import type { Kind } from "./backstamp";
import type { Compared } from "./paths";
import { emptied, feed } from "./rival";
import { timedSide } from "./timed-side";

const emailsToWarmUp = 2_000;
const emptyMaxMs = 60_000;

/**
 * A full queue from the moment at which sending begins. Backstamp has no worker until then, and one for each
 * core from then on; Postfix holds the emails, and has a process for each connection. Postfix signs while it
 * accepts, so its full queue is the same with and without signatures.
 */
export async function compareQueues({ backstamp, postfix, bodyBytes }: Compared): Promise<Line[]> {
  const own = (kind: Kind) =>
    timedSide(emailsToWarmUp, async (emails) => {
      await backstamp.accept(kind, emails);
      const startedMs = performance.now();
      await backstamp.startWorkers();
      await backstamp.drained();
      const tookMs = performance.now() - startedMs;
      await backstamp.stopWorkers();
      return tookMs;
    });
  const rates = await runAlternately({
    unsigned: own("unsigned"),
    postfix: timedSide(emailsToWarmUp, async (emails) => {
      await feed({ port: postfix.heldPort, emails, bodyBytes });
      postfix.release();
      const startedMs = performance.now();
      postfix.flush();
      await emptied(postfix.queue, emptyMaxMs);
      return performance.now() - startedMs;
    }),
    signed: own("signed"),
  });
  return (["unsigned", "signed"] as const).map((kind) =>
    comparedLine({
      what: `deliver a full queue, a worker for each core, ${kind}`,
      measured: perSecond(medianOf(rates[kind]), "emails"),
      floor: `${postfix.name}: ${perSecond(medianOf(rates.postfix), "emails")}`,
      ratio: medianRatio(rates[kind], rates.postfix),
      budget: { atLeast: 1.3 },
    }),
  );
}
