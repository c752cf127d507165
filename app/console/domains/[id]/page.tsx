import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { cookies } from "next/headers";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, rethrowNotFound, type Search } from "../../team";
import { PANEL_COOKIE, readPanel } from "../panel";
import { DomainPage } from "./domain-page";

export const metadata: Metadata = { title: "Domain" };

type Props = { params: Promise<{ id: string }>; searchParams: Promise<Search> };

/** One domain: its DNS records, their check results, and its settings. */
export default async function Page({ params, searchParams }: Props) {
  const { id } = await params;
  const { teamId } = await requireTeam(`/console/domains/${encodeURIComponent(id)}`, await searchParams);
  const panel = readPanel((await cookies()).get(PANEL_COOKIE)?.value);
  await pageQueries()
    .fetchQuery(trpc.domains.get.queryOptions({ team: teamId, id, panel, isOwnZone: false }))
    .catch(rethrowNotFound);
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <DomainPage teamId={teamId} id={id} initialPanel={panel} />
    </HydrationBoundary>
  );
}
