import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage, readFilters } from "../console-page";
import { EmailList } from "./email-list";
import { emailFilters } from "./filters";

export const metadata: Metadata = { title: "Emails" };

/** The team's emails, newest first. */
export default consolePage("/console/emails", ({ team, search }) => ({
  queries: [
    trpc.emails.list.queryOptions({ team, ...readFilters(emailFilters, search) }),
    trpc.emails.choices.queryOptions({ team }),
  ],
  page: <EmailList teamId={team} />,
}));
