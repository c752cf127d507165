import { useTRPC } from "../../_ui/trpc";

/** The queries to refetch after a sign-in method changes: the methods, the sessions (some may have ended) and the events. */
export function useAccountQueries() {
  const { account } = useTRPC();
  return [account.signInMethods.queryKey(), account.sessions.queryKey(), account.events.queryKey()];
}
