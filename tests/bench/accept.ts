import type { AcceptCommands } from "./accept-child";
import type { BenchDatabase, Place } from "./bench-database";
import { type LoadResult, press } from "./load";
import { medianOf, medianRatio, runAlternately, type Side } from "./measure";
import { FLOOR_PATH } from "./product";
import { comparedLine, type Line, milliseconds, perSecond, plainLine } from "./report";
import { acceptTarget, emailJson, type Target } from "./sample-email";
import { type Child, startChild } from "./start-child";

const secondsPerRun = 3;
/** Until the compiler has optimized both sides: a running service is measured, not its first seconds. */
const secondsToWarmUp = 8;
/** Next is measured only with the first of them: more connections change nothing there. */
const CONNECTIONS = [16, 64] as const;
const latencyConnections = 32;

/**
 * Accepting email over HTTP: the cost of a request from the socket to the commit, beside the minimum possible
 * cost.
 */
export async function measureAccept(place: Place): Promise<Line[]> {
  const product = await place.product();
  const database = await place.openDatabase();
  const web = await startChild<AcceptCommands>("accept-child.ts");
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

type Targets = Record<"server" | "insert" | "nextAccept" | "nextPost", Target>;

function targetsOf(
  { serverPort, nextPort }: { serverPort: number; nextPort: number },
  { token }: BenchDatabase,
): Targets {
  const server = `http://127.0.0.1:${serverPort}`;
  const next = `http://127.0.0.1:${nextPort}`;
  const json = { "content-type": "application/json" };
  return {
    server: acceptTarget(serverPort, token),
    insert: { url: `${server}/insert`, headers: json, body: emailJson },
    nextAccept: { ...acceptTarget(serverPort, token), url: `${next}/api/emails` },
    nextPost: { url: `${next}${FLOOR_PATH}`, headers: json, body: emailJson },
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
    (name: keyof Targets): Side =>
    async ({ isWarmUp }) => {
      const before = await web.ask("usage");
      const seconds = isWarmUp ? secondsToWarmUp : secondsPerRun;
      const { perSecond } = await press({ ...targets[name], connections, seconds });
      const after = await web.ask("usage");
      const spent = (after.cpuMs - before.cpuMs) / (perSecond * seconds);
      if (!isWarmUp) cpu.set(name, [...(cpu.get(name) ?? []), spent]);
      return perSecond;
    };
  const at = `${connections} connections`;
  const cpuOf = (name: keyof Targets) => cpu.get(name) ?? [];
  const own = await runAlternately({ server: rateOf("server"), insert: rateOf("insert") });
  const lines = [
    comparedLine({
      what: `accept at the Node server, ${at}`,
      measured: perSecond(medianOf(own.server), "emails"),
      floor: `same server, a handler that inserts one row: ${perSecond(medianOf(own.insert), "rows")}`,
      ratio: medianRatio(own.server, own.insert),
      budget: { atLeast: 0.7 },
    }),
    plainLine(
      `accept at the Node server, ${at}, processor time of the web process`,
      `${medianOf(cpuOf("server")).toFixed(2)} ms per email`,
      `the insert: ${medianOf(cpuOf("insert")).toFixed(2)} ms`,
      medianRatio(cpuOf("insert"), cpuOf("server")),
    ),
  ];
  if (!hasNext) return lines;
  const beside = await runAlternately({
    server: rateOf("server"),
    post: rateOf("nextPost"),
    next: rateOf("nextAccept"),
  });
  const floor = `Next route that does nothing, POST: ${perSecond(medianOf(beside.post), "requests")}`;
  lines.push(
    comparedLine({
      what: `accept at the Node server, ${at}`,
      measured: perSecond(medianOf(beside.server), "emails"),
      floor,
      ratio: medianRatio(beside.server, beside.post),
      budget: { atLeast: 1 },
    }),
    comparedLine({
      what: `accept at the Next route, as on Vercel, ${at}`,
      measured: perSecond(medianOf(beside.next), "emails"),
      floor,
      ratio: medianRatio(beside.next, beside.post),
      budget: { atLeast: 0.8 },
    }),
  );
  return lines;
}

async function judgeLatency(targets: Targets): Promise<Line> {
  const seen: LoadResult[] = [];
  for (let round = 0; round < 4; round++)
    seen.push(await press({ ...targets.server, connections: latencyConnections, seconds: secondsPerRun }));
  const measured = seen.slice(1);
  const p50 = medianOf(measured.map(({ p50Ms }) => p50Ms));
  const p99 = medianOf(measured.map(({ p99Ms }) => p99Ms));
  return comparedLine({
    what: `accept, p99 at ${latencyConnections} connections`,
    measured: milliseconds(p99),
    floor: `its p50: ${milliseconds(p50)}`,
    ratio: medianOf(measured.map(({ p50Ms, p99Ms }) => p99Ms / p50Ms)),
    budget: { atMost: 4 },
  });
}
