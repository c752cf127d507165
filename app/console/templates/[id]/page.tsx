import { pageSession, publicUrl, trpc } from "#server/trpc/caller";
import { consolePage, objectTitle } from "../../console-page";
import { TemplateEditor } from "./editor";

export const generateMetadata = objectTitle(
  "Template",
  (of) => trpc.templates.get.queryOptions(of),
  ({ name }: { name: string }) => name,
);

/** One template: its content, preview, variables and publication. */
export default consolePage("/console/templates/[id]", async ({ team, params: { id } }) => {
  const ownAddress = (await pageSession())?.user.email ?? "";
  return {
    objects: [trpc.templates.get.queryOptions({ team, id })],
    page: <TemplateEditor key={id} teamId={team} id={id} publicUrl={publicUrl()} ownAddress={ownAddress} />,
  };
});
