import { z } from "zod";
import { AppError } from "#server/errors";
import { ALARMS, readReadiness } from "#server/services/health";
import { withApi } from "./route";

/** Says only that the process answers: a database that is away is no reason to kill it. */
export const getHealth = withApi(
  {
    method: "GET",
    path: "/api/health",
    access: "public",
    tier: "none",
    summary: "Whether the service is alive",
    answer: z.object({ status: z.literal("live") }),
  },
  async () => ({ body: { status: "live" } }) as const,
);

/** Says whether traffic is of use here; 503 with the reason where it is not. */
export const getReadiness = withApi(
  {
    method: "GET",
    path: "/api/health/ready",
    access: "public",
    tier: "none",
    summary: "Whether the service accepts mail and delivers it",
    answer: z.object({
      status: z.literal("ready"),
      alarms: z
        .array(z.object({ alarm: z.enum(ALARMS), count: z.int(), message: z.string() }))
        .optional()
        .describe("What needs the operator, though mail is accepted; absent where nothing does."),
    }),
  },
  async ({ ctx }) => {
    const readiness = await readReadiness(ctx);
    if (readiness.isReady) {
      const { alarms } = readiness;
      return { body: { status: "ready" as const, ...(alarms.length > 0 && { alarms }) } };
    }
    const { reason, message } = readiness;
    throw new AppError("unavailable", message, { details: { status: "not_ready", reason } });
  },
);
