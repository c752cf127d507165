import { z } from "zod";
import type { RestDeps } from "#server/deps";
import { type Method, withApi } from "./pipeline/route";

/** Declared for GET and POST, because schedulers differ in the method that they call. */
const tickBy = (method: Method) =>
  withApi(
    {
      method,
      path: "/api/cron/tick",
      access: "operator-token",
      tier: "none",
      summary: "Run one time-limited round of delivery",
      response: z.object({ status: z.literal("done") }),
    },
    async ({ ctx }: { ctx: RestDeps }) => {
      await ctx.tick();
      return { body: { status: "done" } } as const;
    },
  );

export const getTick = tickBy("GET");
export const postTick = tickBy("POST");
