import { getReadiness } from "#server/services/health";
import { listActivePauses } from "#server/services/pauses/read";
import { NoInput, router, signedIn } from "./init";

/** The installation itself, across teams. */
export const serviceRouter = router({
  /** Whether accepted email can currently be sent, and why not. */
  readiness: signedIn.input(NoInput).query(({ ctx }) => getReadiness(ctx.deps)),
  /**
   * The pauses because of which email of the caller's teams waits, with the operator's reasons; `teamId` is
   * null for all teams.
   */
  pauses: signedIn.input(NoInput).query(({ ctx }) =>
    listActivePauses(
      ctx.deps.hot,
      ctx.signedInAs.memberships.map(({ teamId }) => teamId),
    ),
  ),
});
