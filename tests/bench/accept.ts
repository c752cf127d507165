import type { AcceptCommands } from "./accept-child";
import { type Child, startChild } from "./child";
import { letterHtml, recipientOf, SENDER, subjectOf } from "./letter";
import { type Pressed, press } from "./load";
import { medianOf, medianRatio, runInTurns } from "./measure";
import type { BenchDatabase, Place } from "./place";
import { FLOOR_PATH } from "./product";
import { judgedLine, type Line, milliseconds, perSecond, toldLine } from "./report";

const secondsPerRun = 3;
const secondsToWarmUp = 2;
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
    for (const connections of CONNECTIONS) lines.push(...(await compareRates(web, targets, connections)));
    lines.push(await judgeLatency(targets));
    return lines;
  } finally {
    await web.end();
    await database.drop();
  }
}

type Target = { url: string; headers?: Record<string, string>; body?: string };
type Targets = Record<"door" | "insert" | "nextAccept" | "nextPost" | "nextGet", Target>;

function targetsOf(
  { doorPort, nextPort }: { doorPort: number; nextPort: number },
  { token }: BenchDatabase,
): Targets {
  const door = `http://127.0.0.1:${doorPort}`;
  const next = `http://127.0.0.1:${nextPort}`;
  const json = { "content-type": "application/json" };
  const signed = { ...json, authorization: `Bearer ${token}` };
  return {
    door: { url: `${door}/api/emails`, headers: signed, body: mailJson },
    insert: { url: `${door}/insert`, headers: json, body: mailJson },
    nextAccept: { url: `${next}/api/emails`, headers: signed, body: mailJson },
    nextPost: { url: `${next}${FLOOR_PATH}`, headers: json, body: mailJson },
    nextGet: { url: `${next}${FLOOR_PATH}` },
  };
}

async function compareRates(
  web: Child<AcceptCommands>,
  targets: Targets,
  connections: number,
): Promise<Line[]> {
  const cpu: Record<string, number[]> = {};
  const rateOf =
    (name: keyof Targets) =>
    async ({ isWarmUp }: { isWarmUp: boolean }): Promise<number> => {
      const before = await web.ask("usage", undefined as never);
      const seconds = isWarmUp ? secondsToWarmUp : secondsPerRun;
      const { perSecond } = await press({ ...targets[name], connections, seconds });
      const after = await web.ask("usage", undefined as never);
      cpu[name] ??= [];
      if (!isWarmUp) cpu[name].push((after.cpuMs - before.cpuMs) / (perSecond * seconds));
      return perSecond;
    };
  const rates = await runInTurns({
    door: rateOf("door"),
    insert: rateOf("insert"),
    nextAccept: rateOf("nextAccept"),
    nextPost: rateOf("nextPost"),
    nextGet: rateOf("nextGet"),
  });
  const at = `, ${connections} connections`;
  const shown = (name: keyof Targets) => perSecond(medianOf(rates[name]), "");
  return [
    judgedLine({
      what: `accept at the Node door${at}`,
      measured: perSecond(medianOf(rates.door), "mails"),
      floor: `same door, a handler that inserts one row: ${shown("insert")}`,
      ratio: medianRatio(rates.door, rates.insert),
      budget: { atLeast: 0.5 },
    }),
    toldLine(
      `accept at the Node door${at}, processor time of the web process`,
      milliseconds(medianOf(cpu.door ?? [])),
      `the insert: ${milliseconds(medianOf(cpu.insert ?? []))}`,
      medianRatio(cpu.insert ?? [], cpu.door ?? []),
    ),
    ...(["nextPost", "nextGet"] as const).map((name) =>
      judgedLine({
        what: `accept at the Node door${at}`,
        measured: perSecond(medianOf(rates.door), "mails"),
        floor: `Next route that does nothing, ${name === "nextPost" ? "POST" : "GET"}: ${shown(name)}`,
        ratio: medianRatio(rates.door, rates[name]),
        budget: { atLeast: 1 },
      }),
    ),
    judgedLine({
      what: `accept at the Next route, as on Vercel${at}`,
      measured: perSecond(medianOf(rates.nextAccept), "mails"),
      floor: `Next route that does nothing, POST: ${shown("nextPost")}`,
      ratio: medianRatio(rates.nextAccept, rates.nextPost),
      budget: { atLeast: 0.8 },
    }),
  ];
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
