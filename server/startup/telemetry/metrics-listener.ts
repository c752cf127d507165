import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Settings } from "#server/platform/env/settings";
import { errorFacts, type Log } from "#server/platform/log";
import { isSameSecret } from "#server/platform/secrets/same-secret";
import type { Telemetry } from "./open";

/** Scrapes are small and rare: more connections than this are a fault. */
const connectionsMax = 16;
const requestMs = 5_000;

export type MetricsListener = { port: number; close(): Promise<void> };

/**
 * Serves `GET /api/metrics` with the figures of a process without another HTTP server. Null if metrics or the
 * port are not configured, or if the port cannot be opened: this is logged, because a worker without metrics
 * still delivers.
 */
export async function openMetricsListener(
  { metricsToken: token, metricsListener: at }: Pick<Settings, "metricsToken" | "metricsListener">,
  { renderProcess }: Pick<Telemetry, "renderProcess">,
  log: Log,
): Promise<MetricsListener | null> {
  if (token === null || at === null || renderProcess === null) return null;
  const server = createServer(
    {
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      keepAliveTimeout: requestMs,
      maxHeaderSize: 8_192,
    },
    async (request, response) => {
      const given = /^Bearer +(\S{1,512})$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
      const respond = (status: number, text: string, headers = {}) =>
        response
          .writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8", ...headers })
          .end(text);
      if (request.method !== "GET" || request.url?.split("?", 1)[0] !== "/api/metrics")
        return respond(404, "Only GET /api/metrics exists here.\n");
      if (!isSameSecret(given, token))
        return respond(401, "Send BACKSTAMP_METRICS_TOKEN as bearer token.\n", {
          "www-authenticate": "Bearer",
        });
      respond(200, await renderProcess());
    },
  );
  server.maxConnections = connectionsMax;
  try {
    server.listen(at.port, at.host);
    await once(server, "listening");
  } catch (error) {
    log.error("metrics.not_listening", { ...at, ...errorFacts(error) });
    return null;
  }
  const { port } = server.address() as AddressInfo;
  log.info("metrics.ready", { host: at.host, port });
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
