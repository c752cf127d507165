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
    },
    async ({ ctx }: { ctx: RestDeps }) => {
      await ctx.tick();
      return { body: { status: "done" } };
    },
  );

export const getTick = tickBy("GET");
export const postTick = tickBy("POST");
