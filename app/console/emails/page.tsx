import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { trpc } from "#server/trpc/caller";
import { activeFilters } from "../_ui/list/list-filters";
import { consolePage } from "../console-page";
import { EmailList } from "./email-list";
import { emailFilters } from "./filters";

export const metadata: Metadata = { title: "Emails" };

const loadFilters = createLoader(emailFilters);

/** The team's emails, newest first. */
export default consolePage("/console/emails", ({ team, search }) => ({
  queries: [
    trpc.emails.list.queryOptions({ team, ...activeFilters(loadFilters(search)) }),
    trpc.emails.choices.queryOptions({ team }),
  ],
  page: <EmailList teamId={team} />,
}));
