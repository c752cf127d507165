import { Skeleton, SkeletonTable } from "./_ui/skeleton";

/** Stands where a page has no frame of its own to show meanwhile. */
export default function ConsoleLoading() {
  return (
    <>
      <Skeleton className="mb-6 h-9 w-48" />
      <SkeletonTable />
    </>
  );
}
