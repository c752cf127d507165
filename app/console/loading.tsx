import { PageHeading } from "./_ui/page-heading";
import { Skeleton } from "./_ui/skeleton";
import { OverviewSkeleton } from "./overview/overview-skeleton";

/** The overview's frame while it is fetched: every part where it will be. All other pages have their own. */
export default function OverviewLoading() {
  return (
    <>
      <PageHeading title="Overview" actions={<Skeleton className="h-9.5 w-56 rounded-lg max-md:h-11.5" />} />
      <OverviewSkeleton />
    </>
  );
}
