import { createLoader } from "nuqs/server";
import { trpc } from "#server/trpc/caller";
import { consolePage, objectTitle } from "../../../console-page";
import { versionFilters, versionsInput } from "./filters";
import { Versions } from "./versions";

export const generateMetadata = objectTitle(
  "Versions",
  ({ team, id }) => trpc.templates.get.queryOptions({ team, id }),
  ({ name }: { name: string }) => name && `Versions of ${name}`,
);

const loadFilters = createLoader(versionFilters);

/** The versions of a template, with the content of each and the differences between any two of them. */
export default consolePage("/console/templates/[id]/versions", ({ team, params: { id }, search }) => ({
  objects: [trpc.templates.get.queryOptions({ team, id })],
  queries: [trpc.templates.versions.queryOptions(versionsInput(team, id, loadFilters(search)))],
  page: <Versions teamId={team} id={id} />,
}));
