import { readReadiness } from "#server/services/health";
import { router, signedIn } from "./init";
import { NoInput } from "./strict";

/** The installation itself, across teams. */
export const serviceRouter = router({
  /** Whether accepted email can currently be sent, and why not. */
  readiness: signedIn.input(NoInput).query(({ ctx }) => readReadiness(ctx.deps)),
});
