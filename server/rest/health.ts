import { z } from "zod";
import { AppError } from "#server/errors";
import { readReadiness } from "#server/services/health";
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
    answer: z.object({ status: z.literal("ready") }),
  },
  async ({ ctx }) => {
    const readiness = await readReadiness(ctx);
    if (readiness.isReady) return { body: { status: "ready" } } as const;
    const { reason, message } = readiness;
    throw new AppError("unavailable", message, { details: { status: "not_ready", reason } });
  },
);
