import { Loading, Skeleton, SkeletonCard } from "../../_ui/list/skeleton";

/** Skeleton of the page while the domain loads. */
export default function DomainLoading() {
  return (
    <>
      <Loading>
        <Skeleton className="mb-5 h-4 w-24" />
        <Skeleton className="mb-3 h-7 w-72 max-w-full" />
        <Skeleton className="mb-8 h-4 w-56" />
      </Loading>
      <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <SkeletonCard lines={16} />
        <div className="flex flex-col gap-6">
          <SkeletonCard lines={4} />
          <SkeletonCard lines={4} />
        </div>
      </div>
    </>
  );
}
