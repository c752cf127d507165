import { Skeleton } from "../_ui/list/skeleton";
import { PageHeading } from "../_ui/page/page-heading";
import { OverviewSkeleton } from "../overview/overview-skeleton";

/** The loading state of the overview, with the layout of the page. Every other page has its own. */
export default function OverviewLoading() {
  return (
    <>
      <PageHeading
        title="Overview"
        actions={<Skeleton className="h-9.5 w-96 max-w-full rounded-lg max-md:h-11.5" />}
      />
      <OverviewSkeleton />
    </>
  );
}
