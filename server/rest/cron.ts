import { z } from "zod";
import type { RestDeps } from "#server/deps";
import { type Method, withApi } from "./route";

/** Both methods: schedulers differ in which one they call. */
const tickBy = (method: Method) =>
  withApi(
    {
      method,
      path: "/api/cron/tick",
      access: "operator-token",
      tier: "none",
      summary: "Run one bounded round of delivery",
      answer: z.object({ status: z.literal("done") }),
    },
    async ({ ctx }: { ctx: RestDeps }) => {
      await ctx.tick();
      return { body: { status: "done" } } as const;
    },
  );

export const getTick = tickBy("GET");
export const postTick = tickBy("POST");
