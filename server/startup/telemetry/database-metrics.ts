import { performance } from "node:perf_hooks";
import type { Gauge } from "prom-client";
import type { InstallationFigures } from "#server/services/overview/installation-figures";

/** Scrapes within this time share one reading. */
export const figuresKeptMs = 10_000;

/**
 * The text of a scrape: the metrics of the process, which are null while they are off, and those of the
 * database.
 */
export function createMetricsText(
  renderProcess: (() => Promise<string>) | null,
  renderDatabase: () => Promise<string>,
): () => Promise<string> {
  return async () => (await Promise.all([renderProcess?.() ?? "", renderDatabase()])).join("");
}

/**
 * The metrics that are read from the database, as text. At most one reading is in progress, and a reading is
 * used for 10 s, so scrapes cannot load the database, however many there are. If the database does not
 * respond, `backstamp_database_up` is 0 and the other metrics are absent. Never rejects.
 */
export function createDatabaseMetrics(
  read: () => Promise<InstallationFigures>,
  onFault: (error: unknown) => void,
): () => Promise<string> {
  let latest: { text: Promise<string>; readAtMs: number } | null = null;
  const render = async () => {
    const figures = await read().catch((error: unknown) => {
      onFault(error);
      return null;
    });
    return formatFigures(figures);
  };
  return () => {
    if (latest && performance.now() - latest.readAtMs < figuresKeptMs) return latest.text;
    const reading = { text: render(), readAtMs: Number.POSITIVE_INFINITY };
    // The time counts from the end of the reading: until then, all scrapes wait for it.
    void reading.text.finally(() => {
      reading.readAtMs = performance.now();
    });
    latest = reading;
    return reading.text;
  };
}

async function formatFigures(figures: InstallationFigures | null): Promise<string> {
  const { Gauge, Registry } = await import("prom-client");
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []): Gauge =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  gauge(
    "backstamp_database_up",
    "1 if the database responded with the figures of the installation, else 0.",
  ).set(figures === null ? 0 : 1);
  if (figures === null) return registry.metrics();

  const depth = gauge(
    "backstamp_queue_depth",
    "Rows of a queue by state: due, later (scheduled or deferred), sending, paused, no_transport, failing or disabled (endpoints). Above 100000 it is 100001.",
    ["queue", "state"],
  );
  const oldest = gauge(
    "backstamp_queue_oldest_due_seconds",
    "Age of the row that has been due longest; 0 if none is due.",
    ["queue"],
  );
  const lapsed = gauge(
    "backstamp_leases_lapsed",
    "Claims whose lease expired and that no worker has recovered yet.",
    ["queue"],
  );
  for (const { queue, oldestDueSeconds, lapsed: expired, counts } of figures.queues) {
    for (const [state, count] of Object.entries(counts)) depth.set({ queue, state }, count);
    oldest.set({ queue }, oldestDueSeconds);
    lapsed.set({ queue }, expired);
  }
  gauge("backstamp_workers_alive", "Workers with a recent heartbeat.").set(figures.workersAlive);
  const relays = gauge("backstamp_relays", "Relays by state: ready or paused.", ["state"]);
  for (const [state, count] of Object.entries(figures.relays)) relays.set({ state }, count);
  return registry.metrics();
}
