import { RELEASE } from "#db/compatibility";
import type { Settings } from "#server/platform/env/settings";
import type { Log } from "#server/platform/log";
import type { Tracer } from "#server/platform/telemetry/otel";
import type { Metrics } from "#server/platform/telemetry/prometheus";

/** What this process reports to monitoring systems. Each part is null while it is off. */
export type Telemetry = {
  metrics: Metrics | null;
  /** The metrics of this process as text; null if they are off. */
  renderProcess: (() => Promise<string>) | null;
  tracer: Tracer | null;
  /** Sends the spans that have ended. Never rejects. */
  flush(): Promise<void>;
  /** Sends them and stops. Never rejects. */
  close(): Promise<void>;
};

const doNothing = async () => {};

/** Nothing is reported, for programs that end after one command. */
export const NO_TELEMETRY: Telemetry = {
  metrics: null,
  renderProcess: null,
  tracer: null,
  flush: doNothing,
  close: doNothing,
};

/**
 * Opens what the settings turn on. The packages are loaded only then. `canFreeze`: the platform can freeze
 * and replace the process at any time. Its counters would say nothing about the installation, so it has none.
 */
export async function openTelemetry(
  { metricsToken, areTracesExported }: Pick<Settings, "metricsToken" | "areTracesExported">,
  { role, log, canFreeze = false }: { role: "web" | "worker"; log: Log; canFreeze?: boolean },
): Promise<Telemetry> {
  const telemetry = { ...NO_TELEMETRY };
  if (metricsToken !== null && !canFreeze) {
    const { createPrometheus } = await import("#server/platform/telemetry/prometheus");
    const { metrics, render } = createPrometheus({ version: RELEASE, role });
    Object.assign(telemetry, { metrics, renderProcess: render });
  }
  if (areTracesExported) {
    const { createOtel } = await import("#server/platform/telemetry/otel");
    Object.assign(telemetry, createOtel({ version: RELEASE, role, log }));
  }
  return telemetry;
}
