import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage, readFilters } from "../console-page";
import { templateFilters } from "./filters";
import { TemplateList } from "./template-list";

export const metadata: Metadata = { title: "Templates" };

/** The team's templates, newest first. */
export default consolePage("/console/templates", ({ team, search }) => ({
  queries: [trpc.templates.list.queryOptions({ team, ...readFilters(templateFilters, search) })],
  page: <TemplateList teamId={team} />,
}));
