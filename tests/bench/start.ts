import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { readGenerated } from "#server/startup/install/generated";
import { descendantsOf, isRunning, startProcess, type TestProcess } from "../support/processes/processes";
import { freePort } from "../support/servers/free-port";
import type { Place } from "./bench-database";
import { medianOf } from "./measure";
import type { Product } from "./product";
import { comparedLine, type Line, seconds } from "./report";

type Mode = "dev" | "start";
type Started = { elapsedSeconds: number; webMb: number };

const rounds = 3;
const BUDGET_SECONDS: Record<Mode, number> = { dev: 10, start: 5 };
const webBudgetMb = 250;
const idleMs = 3_000;
const stopMaxMs = 30_000;

/**
 * From the command to the first accepted email, each time with an empty data directory: the database is
 * created too.
 */
export async function measureStart(place: Place): Promise<Line[]> {
  const product = await place.product();
  const seen: Record<Mode, Started[]> = { dev: [], start: [] };
  for (let round = 0; round < rounds; round++)
    for (const mode of ["dev", "start"] as const)
      seen[mode].push(await startOnce(product, mode, path.join(place.folder, `start-${mode}-${round}`)));
  return [
    ...(["dev", "start"] as const).map((mode) => {
      const elapsedSeconds = medianOf(seen[mode].map((started) => started.elapsedSeconds));
      return comparedLine({
        what: `\`npm run ${mode}\` to the first accepted email, empty data directory`,
        measured: seconds(elapsedSeconds),
        floor: `allowed: ${seconds(BUDGET_SECONDS[mode])}`,
        ratio: elapsedSeconds / BUDGET_SECONDS[mode],
        budget: { atMost: 1 },
      });
    }),
    memoryLine(medianOf(seen.start.map(({ webMb }) => webMb))),
  ];
}

const memoryLine = (webMb: number): Line =>
  comparedLine({
    what: "memory of the web process of `npm start`, idle",
    measured: `${Math.round(webMb)} MB`,
    floor: `allowed: ${webBudgetMb} MB`,
    ratio: webMb / webBudgetMb,
    budget: { atMost: 1 },
  });

async function startOnce(product: Product, mode: Mode, dataDir: string): Promise<Started> {
  const port = await freePort();
  const startedMs = performance.now();
  const launcher = await startProcess("npm", mode === "dev" ? ["run", "dev"] : ["start"], {
    cwd: product.folder,
    env: { PORT: String(port), HOST: "127.0.0.1", BACKSTAMP_DATA_DIR: dataDir },
  });
  try {
    await launcher.waitFor(/Backstamp is running/);
    await sendFirstEmail(port, dataDir);
    const elapsedSeconds = (performance.now() - startedMs) / 1000;
    if (mode === "dev") return { elapsedSeconds, webMb: 0 };
    await wait(idleMs);
    return { elapsedSeconds, webMb: memoryOf("launch", descendantsOf(launcher.pid)) };
  } finally {
    await stopProcesses(launcher);
  }
}

/** Signals the launcher itself, because npm may run it through a shell that does not forward signals. */
async function stopProcesses(npm: TestProcess): Promise<void> {
  const launcherPids = descendantsOf(npm.pid);
  const launcher = launcherPids.findLast((pid) => /launch\.(ts|mjs)/.test(commandOf(pid)));
  if (launcher !== undefined) process.kill(launcher, "SIGTERM");
  const untilMs = performance.now() + stopMaxMs;
  while (launcherPids.some(isRunning) && performance.now() < untilMs) await wait(50);
  await npm.killTree();
}

async function sendFirstEmail(port: number, dataDir: string): Promise<void> {
  const { firstKeyToken } = await readGenerated(dataDir);
  const response = await fetch(`http://127.0.0.1:${port}/api/emails`, {
    method: "POST",
    headers: { authorization: `Bearer ${firstKeyToken}`, "content-type": "application/json" },
    body: JSON.stringify({
      from: "hello@backstamp.test",
      to: "delivered@backstamp.test",
      subject: "First email",
      html: "<p>It works.</p>",
    }),
  });
  if (response.status !== 200) throw new Error(`The first email was rejected: ${await response.text()}`);
}

/** Resident megabytes of the process of these that runs the program; 0 if none does. */
export const memoryOf = (program: "launch" | "worker-process", pids: readonly number[]): number =>
  Math.max(
    0,
    ...pids.filter((pid) => new RegExp(`${program}\\.(ts|mjs)`).test(commandOf(pid))).map(residentMbOf),
  );

function residentMbOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readOr(`/proc/${pid}/status`))?.[1] ?? "0";
  return (Number(kilobytes) * 1024) / 1_000_000;
}

const commandOf = (pid: number): string => readOr(`/proc/${pid}/cmdline`);

/** Empty if the process has ended meanwhile. */
function readOr(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
