import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage } from "../../console-page";
import { SecurityPage } from "./security-page";

export const metadata: Metadata = { title: "Security" };

/** The sign-in methods, the sessions and the security events of the user. */
export default consolePage("/console/settings/security", () => ({
  queries: [
    trpc.account.signInMethods.queryOptions(),
    trpc.account.sessions.queryOptions(),
    trpc.account.events.queryOptions(),
  ],
  page: <SecurityPage />,
}));
