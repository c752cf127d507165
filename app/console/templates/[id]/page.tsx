import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { pageQueries, pageSession, publicUrl, trpc } from "#server/trpc/caller";
import { requireTeam, rethrowNotFound, type Search } from "../../team";
import { TemplateEditor } from "./editor";

export const metadata: Metadata = { title: "Template" };

type Props = { params: Promise<{ id: string }>; searchParams: Promise<Search> };

/** One template: its content, preview, variables and publication. */
export default async function Page({ params, searchParams }: Props) {
  const { id } = await params;
  const { teamId } = await requireTeam(`/console/templates/${encodeURIComponent(id)}`, await searchParams);
  const session = await pageSession();
  await pageQueries()
    .fetchQuery(trpc.templates.get.queryOptions({ team: teamId, id }))
    .catch(rethrowNotFound);
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <TemplateEditor
        key={id}
        teamId={teamId}
        id={id}
        publicUrl={publicUrl()}
        ownAddress={session?.user.email ?? ""}
      />
    </HydrationBoundary>
  );
}
