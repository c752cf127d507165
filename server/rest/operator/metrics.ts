import { Readable } from "node:stream";
import { withApi } from "../pipeline/route";

const contentType = "text/plain; version=0.0.4; charset=utf-8";

/** The metrics for Prometheus. */
export const metricsRoutes = [
  withApi({
    route: "GET /api/metrics",
    access: "metrics-token",
    tier: "none",
    summary: "Read the metrics in the text format of Prometheus",
    description:
      "The figures of the process that responds, and those of the installation, which are at most 10 s old. On Vercel only the latter.",
    responseType: contentType,
    handle: async ({ ctx }) => ({
      filename: "metrics.txt",
      stream: Readable.from([await ctx.renderMetrics()]),
    }),
  }),
];
