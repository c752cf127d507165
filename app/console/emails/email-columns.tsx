import { Loading, Skeleton } from "../_ui/list/skeleton";
import { cardStyle } from "../_ui/styles";

/** The grid columns of the header, of the rows and of their placeholders. */
export const columnsStyle =
  "grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 pr-4 pl-11 lg:grid-cols-[7.5rem_minmax(0,1fr)_minmax(0,1fr)_5.5rem] xl:grid-cols-[7.5rem_minmax(0,1fr)_minmax(0,1fr)_minmax(0,9rem)_5.5rem]";
/** The height of a row; two lines of text on narrow screens. */
export const rowStyle = "min-h-19 py-3 lg:min-h-13 lg:py-2";

const skeletonRows = 8;

/** The column headers, on wide screens only. */
export const ColumnHeaders = () => (
  <div
    aria-hidden="true"
    className={`${columnsStyle} hidden h-10 border-line border-b text-soft text-xs lg:grid`}
  >
    <span>Status</span>
    <span>Recipient</span>
    <span>Subject</span>
    <span className="max-xl:hidden">Key</span>
    <span className="text-right">Time</span>
  </div>
);

export const SkeletonRows = () => (
  <Loading className={`${cardStyle} overflow-hidden`}>
    <ColumnHeaders />
    <div className="divide-y divide-line">
      {Array.from({ length: skeletonRows }, (_, row) => `row-${row}`).map((key) => (
        <div key={key} className={`${columnsStyle} ${rowStyle}`}>
          <Skeleton className="h-3.5 w-20" />
          <Skeleton className="h-3.5 w-4/5" />
          <Skeleton className="h-3.5 w-3/5 max-lg:col-span-2" />
          <Skeleton className="h-3.5 w-1/2 max-xl:hidden" />
          <Skeleton className="ml-auto h-3.5 w-12 max-lg:hidden" />
        </div>
      ))}
    </div>
  </Loading>
);
