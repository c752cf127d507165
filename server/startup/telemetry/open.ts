import { RELEASE } from "#db/compatibility";
import type { Settings } from "#server/platform/env/settings";
import type { Metrics } from "#server/platform/telemetry/metrics";

/** What this process reports to monitoring systems. Each part is null while it is off. */
export type Telemetry = {
  metrics: Metrics | null;
  /** The metrics of this process as text; null if they are off. */
  renderProcess: (() => Promise<string>) | null;
};

/** Nothing is reported, for programs that end after one command. */
export const NO_TELEMETRY: Telemetry = { metrics: null, renderProcess: null };

/**
 * Opens what the settings turn on. The packages are loaded only then. `canFreeze`: the platform can freeze and replace the process
 * at any time. Its counters would say nothing about the installation, so it has none.
 */
export async function openTelemetry(
  { metricsToken }: Pick<Settings, "metricsToken">,
  { role, canFreeze = false }: { role: "web" | "worker"; canFreeze?: boolean },
): Promise<Telemetry> {
  if (metricsToken === null || canFreeze) return NO_TELEMETRY;
  const { createPrometheus } = await import("#server/platform/telemetry/prometheus");
  const { metrics, render } = createPrometheus({ version: RELEASE, role });
  return { metrics, renderProcess: render };
}
