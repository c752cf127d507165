import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import { TRPCError } from "@trpc/server";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { pageQueries, pageSession, publicUrl, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../../team";
import { TemplateEditor } from "./template-editor";

export const metadata: Metadata = { title: "Template" };

type Props = { params: Promise<{ id: string }>; searchParams: Promise<Search> };

/** One template: its words beside what they come to, its variables, and its way to the readers. */
export default async function Page({ params, searchParams }: Props) {
  const { id } = await params;
  const { teamId } = await requireTeam(`/console/templates/${encodeURIComponent(id)}`, await searchParams);
  const session = await pageSession();
  await pageQueries()
    .fetchQuery(trpc.templates.get.queryOptions({ team: teamId, id }))
    .catch(passMissing);
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

// Any other failure is the browser's to show, which asks again and has the request id.
function passMissing(error: unknown): void {
  if (error instanceof TRPCError && error.code === "NOT_FOUND") notFound();
}
