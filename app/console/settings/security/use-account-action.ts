import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

/**
 * A change of the sign-in settings. Refetches the methods, the sessions, because some may have ended, and the
 * events.
 */
export const useAccountAction: typeof useAction = (options, after) => {
  const { account } = useTRPC();
  const refresh = [account.signInMethods.queryKey(), account.sessions.queryKey(), account.events.queryKey()];
  return useAction(options, { ...after, refresh });
};
