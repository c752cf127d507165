import { z } from "zod";
import { withApi } from "../pipeline/route";

/** Declared for GET and POST, because schedulers differ in the method that they call. */
export const tickRoutes = (["GET", "POST"] as const).map((method) =>
  withApi({
    route: `${method} /api/cron/tick`,
    access: "operator-token",
    tier: "none",
    summary: "Run one time-limited round of delivery",
    response: z.object({ status: z.literal("done") }),
    handle: async ({ ctx }) => {
      await ctx.tick();
      return { status: "done" as const };
    },
  }),
);
