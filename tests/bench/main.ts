import { measureAccept } from "./accept";
import { measureBatch } from "./batch";
import { openBenchDatabase, type Place } from "./bench-database";
import { scoreBounces } from "./bounces";
import { measureBusy } from "./busy";
import { measureCapacity } from "./capacity";
import { measureConsole } from "./console";
import { measureDelivery } from "./deliver";
import { measureFairness } from "./fairness";
import { measureHostile } from "./hostile";
import { measureHosts } from "./hosts/hosts";
import { measureMemory } from "./memory";
import { measureMetrics } from "./metrics";
import { measureParking } from "./park";
import { describeRun, formatTable, type Line } from "./report";
import { measureRivals } from "./rivals/rivals";
import { measureScale } from "./scale";
import { measureStart } from "./start";
import { measureUpstash } from "./upstash";
import { measureWebhooks } from "./webhooks";

/**
 * The parts, which can be measured separately: `npm run bench -- accept`. Without a name all but the long
 * ones run, in this order.
 */
const PARTS: Record<string, (place: Place) => Promise<Line[]>> = {
  accept: measureAccept,
  batch: measureBatch,
  upstash: measureUpstash,
  deliver: measureDelivery,
  park: measureParking,
  busy: measureBusy,
  webhooks: measureWebhooks,
  console: measureConsole,
  metrics: measureMetrics,
  start: measureStart,
  hostile: measureHostile,
  capacity: measureCapacity,
  scale: measureScale,
  fairness: measureFairness,
  memory: measureMemory,
  rivals: measureRivals,
  hosts: measureHosts,
};

/** Parts that take longer than all others together. They run only by their names. */
const LONG = ["hostile", "capacity", "scale", "fairness", "memory", "rivals", "hosts"];

const print = (text: string) => process.stderr.write(`${text}\n`);

async function main(names: string[]): Promise<number> {
  if (names[0] === "bounces") {
    if (names[1] === undefined) {
      print("Name the folder that has labels.json: npm run bench -- bounces DIR.");
      return 2;
    }
    process.stdout.write(`${scoreBounces(names[1])}\n`);
    return 0;
  }
  const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined) {
    print(`There is no part "${unknown}". There are: ${Object.keys(PARTS).join(", ")}.`);
    return 2;
  }
  // Started processes end with this one, in its exit handlers.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  const place = await openBenchDatabase();
  const lines: Line[] = [];
  let hasBroken = false;
  for (const [name, measure] of Object.entries(PARTS)) {
    if (names.length > 0 ? !names.includes(name) : LONG.includes(name)) continue;
    print(`measuring ${name} …`);
    try {
      lines.push(...(await measure(place)));
    } catch (error) {
      hasBroken = true;
      print(`${name} could not be measured: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
  await place.close();
  process.stdout.write(`\n${describeRun(new Date(), place.postgresVersion)}\n\n${formatTable(lines)}\n`);
  return hasBroken || lines.some(({ isMet }) => isMet === false) ? 1 : 0;
}

// A part that failed can have left processes, which would keep this one alive.
process.exit(await main(process.argv.slice(2)));
