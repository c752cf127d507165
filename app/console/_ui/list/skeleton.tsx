import type { ComponentProps, ReactNode } from "react";
import { PageHeading } from "../page/page-heading";
import { cardStyle } from "../styles";

/** A gray placeholder. `className` sets its size. */
export function Skeleton({ className }: { className: string }) {
  return <div className={`rounded bg-mute-tint motion-safe:animate-pulse ${className}`} />;
}

/** Wraps placeholders and announces the loading state to screen readers. */
export const Loading = ({ children, className }: { children: ReactNode; className?: string }) => (
  <div aria-busy="true" className={className}>
    <span className="sr-only" role="status">
      Loading
    </span>
    {children}
  </div>
);

/** Placeholder rows of a list, as tall as those of `DataTable`. */
export const SkeletonTable = ({ rows = 8 }: { rows?: number | undefined }) => (
  <Loading className={`${cardStyle} overflow-hidden`}>
    <div className="hidden h-10 border-line border-b lg:block" />
    <div className="divide-y divide-line">
      {Array.from({ length: rows }, (_, row) => `row-${row}`).map((key) => (
        <div
          key={key}
          className="grid min-h-19 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-6 gap-y-1 px-4 py-3 lg:min-h-13 lg:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)_minmax(0,1fr)_4rem] lg:py-2"
        >
          <Skeleton className="h-3.5 w-3/5" />
          <Skeleton className="h-3.5 w-12 lg:w-2/5" />
          <Skeleton className="h-3.5 w-2/5 max-lg:col-span-2" />
          <Skeleton className="h-3.5 w-12 max-lg:hidden" />
        </div>
      ))}
    </div>
  </Loading>
);

/** A placeholder card. */
export const SkeletonCard = ({ lines = 3 }: { lines?: number }) => (
  <Loading className={`${cardStyle} flex flex-col gap-4 p-5`}>
    {Array.from({ length: lines }, (_, line) => `line-${line}`).map((key, line) => (
      <Skeleton key={key} className={`h-3.5 ${line === 0 ? "w-1/3" : "w-4/5"}`} />
    ))}
  </Loading>
);

type Heading = { heading?: ComponentProps<typeof PageHeading> };

type ListProps = Heading & {
  /** Class with the height of the filter bar, if the list has one. */
  filterBar?: string;
  rows?: number;
};

/** The loading state of a list page, with the layout of the page. */
export const ListLoading = ({ heading, filterBar, rows }: ListProps) => (
  <>
    {heading ? <PageHeading actions={<div className="h-10" />} {...heading} /> : null}
    {filterBar ? <div className={`mb-4 ${filterBar}`} /> : null}
    <SkeletonTable rows={rows} />
  </>
);

/** The loading state of a page of cards, each with its number of lines. */
export const CardsLoading = ({ heading, cards }: Heading & { cards: readonly number[] }) => (
  <>
    {heading ? <PageHeading {...heading} /> : null}
    <div className="flex flex-col gap-6">
      {cards.map((lines, place) => (
        <SkeletonCard key={`card-${String(place)}`} lines={lines} />
      ))}
    </div>
  </>
);
