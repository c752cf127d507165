import { useTRPC } from "../../_ui/trpc";

/** What is asked again after a lock has changed: the locks, the sessions that it may have ended, and what is told of it. */
export function useAccountQueries() {
  const { account } = useTRPC();
  return [account.locks.queryKey(), account.sessions.queryKey(), account.events.queryKey()];
}
