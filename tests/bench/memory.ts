import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { descendantsOf, startProcess } from "../support/processes/processes";
import { freePort } from "../support/servers/free-port";
import { BACKSTAMP_SECRET, type Place } from "./bench-database";
import { press } from "./load";
import { medianOf } from "./measure";
import { nothingDue } from "./queue";
import { comparedLine, type Line } from "./report";
import { acceptTarget } from "./sample-email";
import { openSink } from "./sink";
import { memoryOf } from "./start";

/** Fewer show whether the part works, not whether memory grows. */
const minutes = Number(process.env.BENCH_MINUTES ?? 60);
const samples = 60;
const emailsPerSecond = 300;
const connections = 16;
const doneMaxMs = 60_000;
/** In megabytes. */
const BUDGETS = { web: 250, worker: 300 };
/** Of the median of a later quarter to that of an earlier one. */
const growthMax = 1.05;

/** Resident memory of the processes of the production build under a constant load. */
export async function measureMemory(place: Place): Promise<Line[]> {
  const product = await place.product();
  const database = await place.openDatabase();
  const sink = await openSink();
  const port = await freePort();
  const launcher = await startProcess("npm", ["start"], {
    cwd: product.folder,
    env: {
      PORT: String(port),
      HOST: "127.0.0.1",
      BACKSTAMP_DATA_DIR: path.join(place.folder, "memory"),
      BACKSTAMP_SECRET,
      BACKSTAMP_URL: "http://localhost",
      DATABASE_URL: database.url,
      SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    },
  });
  try {
    await launcher.waitFor(/Backstamp is running/);
    const memory = { web: [] as number[], worker: [] as number[] };
    const load = { connections, seconds: minutes * 60, rateMax: emailsPerSecond };
    const pressed = press({ ...acceptTarget(port, database.token), ...load });
    for (let sample = 1; sample <= samples; sample++) {
      await wait((minutes * 60_000) / samples);
      const pids = [launcher.pid, ...descendantsOf(launcher.pid)];
      memory.web.push(memoryOf("launch", pids));
      memory.worker.push(memoryOf("worker-process", pids));
      process.stderr.write(
        `${((sample * minutes) / samples).toFixed(1)} min: web ${format(memory.web.at(-1))}, worker ${format(memory.worker.at(-1))}\n`,
      );
    }
    const { perSecond } = await pressed;
    if (perSecond < 0.95 * emailsPerSecond) throw new Error(`Only ${perSecond} emails/s were accepted.`);
    await nothingDue(database.hot, doneMaxMs, 250);
    return [...linesOf("web", memory.web), ...linesOf("worker", memory.worker)];
  } finally {
    await launcher.killTree();
    await sink.close();
    await database.drop();
  }
}

function linesOf(name: keyof typeof BUDGETS, memory: readonly number[]): Line[] {
  const quarter = samples / 4;
  const second = medianOf(memory.slice(quarter, 2 * quarter));
  const last = medianOf(memory.slice(-quarter));
  const at = `memory of the ${name} process over ${minutes} minutes at ${emailsPerSecond} emails/s`;
  return [
    comparedLine({
      what: `${at}, its maximum`,
      measured: format(Math.max(...memory)),
      floor: `allowed: ${BUDGETS[name]} MB`,
      ratio: Math.max(...memory) / BUDGETS[name],
      budget: { atMost: 1 },
    }),
    comparedLine({
      what: `${at}, in the last quarter`,
      measured: format(last),
      floor: `in the second: ${format(second)}`,
      ratio: last / second,
      budget: { atMost: growthMax },
    }),
  ];
}

const format = (megabytes = 0) => `${Math.round(megabytes)} MB`;
