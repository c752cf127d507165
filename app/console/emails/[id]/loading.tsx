import { Loading, Skeleton } from "../../_ui/list/skeleton";

/** The loading state, with the layout of the page. */
export default function EmailLoading() {
  return (
    <Loading>
      <Skeleton className="mb-5 h-4 w-20" />
      <Skeleton className="mb-3 h-7 w-2/3" />
      <Skeleton className="mb-8 h-4 w-1/2" />
      <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_24rem]">
        <Skeleton className="h-[40rem]" />
        <Skeleton className="h-80" />
      </div>
    </Loading>
  );
}
