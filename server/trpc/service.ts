import { readReadiness } from "#server/services/health";
import { router, signedIn } from "./init";
import { Nothing } from "./strict";

/** The installation itself, which belongs to no team. */
export const serviceRouter = router({
  /** Whether what is accepted now also leaves, and why not. */
  readiness: signedIn.input(Nothing).query(({ ctx }) => readReadiness(ctx.deps)),
});
