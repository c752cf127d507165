import { Loading, Skeleton } from "../_ui/list/skeleton";
import { cardStyle } from "../_ui/styles";

/** Placeholders with the layout of the overview. */
export const OverviewSkeleton = () => (
  <Loading className="flex flex-col gap-6">
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-3">
      {["accepted", "delivered", "bounced", "complained", "opened", "time"].map((name) => (
        <div key={name} className={`${cardStyle} h-26 px-4 py-4`}>
          <Skeleton className="h-3 w-20" />
          <Skeleton className="mt-3 h-6 w-24" />
        </div>
      ))}
    </div>
    <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className={`${cardStyle} h-[43rem] p-5`}>
        <Skeleton className="h-full w-full" />
      </div>
      <div className={`${cardStyle} h-80 p-5`}>
        <Skeleton className="h-full w-full" />
      </div>
    </div>
  </Loading>
);
