import { z } from "zod";
import { AppError, notFound } from "#server/platform/errors";
import { HOPS_PATH, Hops } from "#server/services/doctor/network/proxy";
import { ALARMS } from "#server/services/readiness";
import { withApi } from "./pipeline/route";

export const healthRoutes = [
  /**
   * Liveness: succeeds while the process responds. It ignores the database, because a restart does not fix an
   * outage.
   */
  withApi({
    route: "GET /api/health",
    access: "public",
    tier: "none",
    summary: "Check liveness",
    response: z.object({ status: z.literal("live") }),
    handle: async () => ({ status: "live" as const }),
  }),
  /** For `backstamp doctor`, which signs the link and calls it through the public URL. */
  withApi({
    route: "GET /api/health/hops/{token}",
    access: "public",
    summary: "Count the reverse proxies that a request passes",
    params: { token: "Signed by the command line; valid for a minute." },
    response: Hops,
    handle: async ({ ctx, params, header }) => {
      if (ctx.links.open(HOPS_PATH, params.token, ctx.clock()) === null) throw notFound("Link");
      const entries = (header("x-forwarded-for") ?? "").split(",").filter((entry) => entry.trim() !== "");
      return { forwarded: entries.length, trusted: ctx.trustedHops };
    },
  }),
  /** Readiness: whether this process accepts email; 503 with the reason if it does not. */
  withApi({
    route: "GET /api/health/ready",
    access: "public",
    tier: "none",
    summary: "Check whether the service accepts and delivers email",
    response: z.object({
      status: z.literal("ready"),
      alarms: z
        .array(z.object({ alarm: z.enum(ALARMS), count: z.int(), message: z.string() }))
        .optional()
        .describe("Conditions that need the operator although email is accepted; absent if there are none."),
    }),
    handle: async ({ ctx }) => {
      const readiness = await ctx.getReadiness(ctx);
      if (readiness.isReady) {
        const { alarms } = readiness;
        return { status: "ready" as const, ...(alarms.length > 0 && { alarms }) };
      }
      const { reason, message } = readiness;
      throw new AppError("unavailable", message, { details: { status: "not_ready", reason } });
    },
  }),
];
