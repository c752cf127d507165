import { medianOf, medianRatio, runAlternately, type Side } from "../measure";
import { cpuOfTree } from "../processor-time";
import { comparedLine, type Line, perSecond, plainLine } from "../report";
import type { Backstamp, Kind } from "./backstamp";
import type { PostfixRival } from "./postfix";
import { emptied, feed, type Rival } from "./rival";
import { timedSide } from "./timed-side";

export type Compared = {
  backstamp: Backstamp;
  postfix: PostfixRival;
  /** Postfix, and the others. */
  rivals: Rival[];
  bodyBytes: number;
  sinkPid: number;
};

/** Processor time of each part, in ms. */
type Spent = Record<string, number>;

/** Until the compiler has optimized the web process and the worker. */
const emailsToWarmUp = { unsigned: 10_000, signed: 2_000 };
const fewToWarmUp = 400;
const emptyMaxMs = 30_000;
/** Processor time of an unsigned email, in ms. */
const BUDGETS = { web: 0.27, worker: 0.3, postgres: 0.3 };
const NAMES = { web: "the web process", worker: "the worker", postgres: "PostgreSQL" };

/** From the first request until the last email has been sent, and its result is recorded. */
export async function comparePaths(compared: Compared): Promise<Line[]> {
  const { postfix, rivals } = compared;
  const { sides, failed, medianSpent } = openSides(compared);
  const rates = await runAlternately(sides);
  const compare = (kind: Kind, { name }: Rival) => {
    const [own = [], other = []] = [rates[kind], rates[name]];
    return {
      what: `accept and deliver, ${kind}`,
      measured: perSecond(medianOf(own), "emails"),
      floor: `${name}: ${perSecond(medianOf(other), "emails")}`,
      ratio: medianRatio(own, other),
    };
  };
  const lines = [
    comparedLine({ ...compare("unsigned", postfix), budget: { atLeast: 2 } }),
    comparedLine({ ...compare("signed", postfix), budget: { atLeast: 1.3 } }),
  ];
  for (const rival of rivals) {
    const reason = failed.get(rival.name);
    if (reason !== undefined) lines.push(plainLine(`beside ${rival.name}`, `not measured: ${reason}`));
    else if (rival === postfix.signed)
      lines.push(comparedLine({ ...compare("signed", rival), budget: { atLeast: 3.5 } }));
    else if (rival !== postfix) {
      const { what, measured, floor, ratio } = compare("unsigned", rival);
      lines.push(plainLine(what, measured, floor, ratio));
    }
  }

  const perEmail = (ms: number) => `${ms.toFixed(2)} ms per email`;
  for (const [part, atMost] of Object.entries(BUDGETS)) {
    const [unsigned, signed] = [medianSpent("unsigned", part), medianSpent("signed", part)];
    lines.push({
      ...plainLine(
        `processor time of ${NAMES[part as keyof typeof NAMES]}`,
        `${perEmail(unsigned)} unsigned, ${signed.toFixed(2)} signed`,
      ),
      budget: `≤ ${atMost} ms unsigned`,
      isMet: unsigned <= atMost,
    });
  }
  for (const { name } of rivals.filter((each) => !failed.has(each.name)))
    lines.push(plainLine(`processor time of ${name}`, perEmail(medianSpent(name, "all"))));
  const ofSink = (name: string) => perEmail(medianSpent(name, "sink"));
  lines.push(
    plainLine(
      "processor time of `smtp-sink`",
      ofSink("unsigned"),
      `${postfix.name}: ${ofSink(postfix.name)}`,
    ),
  );
  return lines;
}

/** Both kinds of Backstamp and each rival, with the reasons of those that fail. Times are in ms. */
function openSides({ backstamp, rivals, bodyBytes, sinkPid }: Compared) {
  const spent = new Map<string, Spent[]>();
  const sides: Record<string, Side> = {};
  const failed = new Map<string, string>();
  const addSide = (
    name: string,
    warmUp: number,
    readServer: () => Promise<Spent>,
    run: (emails: number) => Promise<void>,
  ) => {
    const read = async (): Promise<Spent> => ({ ...(await readServer()), sink: cpuOfTree(sinkPid) });
    sides[name] = timedSide(warmUp, async (emails, { isWarmUp }) => {
      const before = await read();
      const startedMs = performance.now();
      await run(emails);
      const tookMs = performance.now() - startedMs;
      const after = await read();
      const perEmail = Object.keys(after).map((part) => [
        part,
        ((after[part] ?? 0) - (before[part] ?? 0)) / emails,
      ]);
      if (!isWarmUp) spent.set(name, [...(spent.get(name) ?? []), Object.fromEntries(perEmail)]);
      return tookMs;
    });
  };
  const addOwn = (kind: Kind) =>
    addSide(kind, emailsToWarmUp[kind], backstamp.readCpu, async (emails) => {
      await backstamp.accept(kind, emails);
      await backstamp.drained();
    });
  addOwn("unsigned");
  for (const { name, port, pids, queue } of rivals) {
    const read = async () => ({ all: pids.reduce((sum, pid) => sum + cpuOfTree(pid), 0) });
    addSide(name, fewToWarmUp, read, async (emails) => {
      await feed({ port, emails, bodyBytes });
      await emptied(queue, emptyMaxMs);
    });
    const run = sides[name];
    // A server that keeps email back does not stop the measurement of the others.
    sides[name] = async (when) => {
      try {
        if (run && !failed.has(name)) return await run(when);
      } catch (error) {
        failed.set(name, String(error));
      }
      return Number.NaN;
    };
  }
  addOwn("signed");
  const medianSpent = (name: string, part: string) =>
    medianOf((spent.get(name) ?? []).map((each) => each[part] ?? Number.NaN));
  return { sides, failed, medianSpent };
}
