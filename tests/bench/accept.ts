import type { AcceptCommands } from "./accept-child";
import { type Child, startChild } from "./child";
import { letterHtml, recipientOf, SENDER, subjectOf } from "./letter";
import { type Pressed, press } from "./load";
import { type Contestant, medianOf, medianRatio, runInTurns } from "./measure";
import type { BenchDatabase, Place } from "./place";
import { FLOOR_PATH } from "./product";
import { judgedLine, type Line, milliseconds, perSecond, toldLine } from "./report";

const secondsPerRun = 3;
/** Until the compiler has done with both sides: what is measured is a service that runs, not its first seconds. */
const secondsToWarmUp = 8;
/** Next is measured at the first of them alone: more connections than that change nothing about it. */
const CONNECTIONS = [16, 64] as const;
const latencyConnections = 32;

const mailJson = JSON.stringify({
  from: SENDER,
  to: recipientOf(1),
  subject: subjectOf(1),
  html: letterHtml(1),
});

/** Mail taken in over HTTP: what a request costs from the socket to the commit, beside what it could cost at least. */
export async function measureAccept(place: Place): Promise<Line[]> {
  const product = await place.product();
  const database = await place.openDatabase();
  const web = startChild<AcceptCommands>("accept-child.ts");
  try {
    const ports = await web.ask("open", { databaseUrl: database.url, productFolder: product.folder });
    const targets = targetsOf(ports, database);
    const lines: Line[] = [];
    for (const connections of CONNECTIONS)
      lines.push(...(await compareRates(web, targets, connections, connections === CONNECTIONS[0])));
    lines.push(await judgeLatency(targets));
    return lines;
  } finally {
    await web.end();
    await database.drop();
  }
}

/** A mail of ordinary length, handed in at the door. */
export const acceptTarget = (doorPort: number, token: string): Target => ({
  url: `http://127.0.0.1:${doorPort}/api/emails`,
  headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
  body: mailJson,
});

export type Target = { url: string; headers?: Record<string, string>; body?: string };
type Targets = Record<"door" | "insert" | "nextAccept" | "nextPost" | "nextGet", Target>;

function targetsOf(
  { doorPort, nextPort }: { doorPort: number; nextPort: number },
  { token }: BenchDatabase,
): Targets {
  const door = `http://127.0.0.1:${doorPort}`;
  const next = `http://127.0.0.1:${nextPort}`;
  const json = { "content-type": "application/json" };
  return {
    door: acceptTarget(doorPort, token),
    insert: { url: `${door}/insert`, headers: json, body: mailJson },
    nextAccept: { ...acceptTarget(doorPort, token), url: `${next}/api/emails` },
    nextPost: { url: `${next}${FLOOR_PATH}`, headers: json, body: mailJson },
    nextGet: { url: `${next}${FLOOR_PATH}` },
  };
}

async function compareRates(
  web: Child<AcceptCommands>,
  targets: Targets,
  connections: number,
  hasNext: boolean,
): Promise<Line[]> {
  const cpu = new Map<keyof Targets, number[]>();
  const rateOf =
    (name: keyof Targets): Contestant =>
    async ({ isWarmUp }) => {
      const before = await web.ask("usage", undefined as never);
      const seconds = isWarmUp ? secondsToWarmUp : secondsPerRun;
      const { perSecond } = await press({ ...targets[name], connections, seconds });
      const after = await web.ask("usage", undefined as never);
      const spent = (after.cpuMs - before.cpuMs) / (perSecond * seconds);
      if (!isWarmUp) cpu.set(name, [...(cpu.get(name) ?? []), spent]);
      return perSecond;
    };
  const at = `${connections} connections`;
  const cpuOf = (name: keyof Targets) => cpu.get(name) ?? [];
  const own = await runInTurns({ door: rateOf("door"), insert: rateOf("insert") });
  const lines = [
    judgedLine({
      what: `accept at the Node door, ${at}`,
      measured: perSecond(medianOf(own.door), "mails"),
      floor: `same door, a handler that inserts one row: ${perSecond(medianOf(own.insert), "rows")}`,
      ratio: medianRatio(own.door, own.insert),
      budget: { atLeast: 0.5 },
    }),
    toldLine(
      `accept at the Node door, ${at}, processor time of the web process`,
      `${medianOf(cpuOf("door")).toFixed(2)} ms a mail`,
      `the insert: ${medianOf(cpuOf("insert")).toFixed(2)} ms`,
      medianRatio(cpuOf("insert"), cpuOf("door")),
    ),
  ];
  if (!hasNext) return lines;
  const beside = await runInTurns({
    door: rateOf("door"),
    post: rateOf("nextPost"),
    get: rateOf("nextGet"),
    next: rateOf("nextAccept"),
  });
  const shown = (rate: readonly number[]) => perSecond(medianOf(rate), "requests");
  for (const method of ["post", "get"] as const)
    lines.push(
      judgedLine({
        what: `accept at the Node door, ${at}`,
        measured: perSecond(medianOf(beside.door), "mails"),
        floor: `Next route that does nothing, ${method.toUpperCase()}: ${shown(beside[method])}`,
        ratio: medianRatio(beside.door, beside[method]),
        budget: { atLeast: 1 },
      }),
    );
  lines.push(
    judgedLine({
      what: `accept at the Next route, as on Vercel, ${at}`,
      measured: perSecond(medianOf(beside.next), "mails"),
      floor: `Next route that does nothing, POST: ${shown(beside.post)}`,
      ratio: medianRatio(beside.next, beside.post),
      budget: { atLeast: 0.8 },
    }),
  );
  return lines;
}

async function judgeLatency(targets: Targets): Promise<Line> {
  const seen: Pressed[] = [];
  for (let round = 0; round < 4; round++)
    seen.push(await press({ ...targets.door, connections: latencyConnections, seconds: secondsPerRun }));
  const measured = seen.slice(1);
  const p50 = medianOf(measured.map(({ p50Ms }) => p50Ms));
  const p99 = medianOf(measured.map(({ p99Ms }) => p99Ms));
  return judgedLine({
    what: `accept, p99 at ${latencyConnections} connections`,
    measured: milliseconds(p99),
    floor: `its p50: ${milliseconds(p50)}`,
    ratio: medianOf(measured.map(({ p50Ms, p99Ms }) => p99Ms / p50Ms)),
    budget: { atMost: 4 },
  });
}
