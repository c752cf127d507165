import { watchPermission } from "#server/services/live/allowed";
import type { Topic } from "#server/services/live/changes";
import { inTeam, router } from "./init";

/**
 * A message to an open page: which topics changed, or that it must poll, because this server does not report
 * changes.
 */
export type LiveMessage = { isLive: boolean; changed: readonly Topic[] };

export const liveRouter = router({
  /**
   * The team's changes as server-sent events. It starts with an empty message; every page then reads again
   * what it shows. It ends with the session, the membership, or the permission.
   */
  changes: inTeam(watchPermission).subscription(async function* ({
    ctx,
    signal,
  }): AsyncGenerator<LiveMessage> {
    const { id: sessionId, user } = ctx.signedInAs;
    const watcher = { teamId: ctx.service.teamId, userId: user.id, sessionId };
    const changes = ctx.deps.live?.watch(watcher, signal ?? new AbortController().signal);
    if (!changes) {
      yield { isLive: false, changed: [] };
      return;
    }
    for await (const changed of changes) yield { isLive: true, changed };
  }),
});
