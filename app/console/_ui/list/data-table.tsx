"use client";

import type { ReactNode } from "react";
import { cardStyle } from "../styles";
import { When } from "../text/when";
import { RowLink } from "./row-link";
import { SkeletonTable } from "./skeleton";

/** A column of a list. The first one names the row and holds its link, if the row has one. */
export type Column<Data> = {
  header: string;
  cell: (row: Data) => ReactNode;
  /**
   * Width on wide screens, as a Tailwind class: "w-40". Columns without a width share the remaining space.
   */
  width?: string;
  align?: "right";
  /**
   * Position on a screen too narrow for a table: "corner" is right of the name and "menu" right of that,
   * "line" is below it with its header, "plain" below it without.
   */
  phone?: "corner" | "menu" | "line" | "plain";
  /** Only in the cards of narrow screens, and in the table of wide ones. */
  isWide?: boolean;
  /** Its text wraps and is never shortened, such as a reason. */
  isWhole?: boolean;
  /** Contains its own buttons or links, which must be above the link of the row. */
  isActive?: boolean;
  /** For a column of buttons: only screen readers get its header. */
  isHeaderHidden?: boolean;
};

/** A column with the menu of each row: all but its cell. */
export const MENU_COLUMN = {
  header: "Actions",
  width: "w-16",
  align: "right",
  phone: "menu",
  isActive: true,
  isHeaderHidden: true,
} as const;

type TimeOptions<Data> = Partial<Column<Data>> & { none?: string; isDue?: boolean };

/** A column with a time of each row; for a row without one, `none`. */
export const timeColumn = <Data,>(
  header: string,
  atOf: (row: Data) => string | null,
  { none = "None", isDue = false, ...more }: TimeOptions<Data> = {},
): Column<Data> => ({
  header,
  width: "w-36",
  cell: (row) => {
    const at = atOf(row);
    return at ? <When at={at} isDue={isDue} /> : <span className="text-soft">{none}</span>;
  },
  ...more,
});

/** A name that is cut off at the end of its line. The whole name is shown on hover. */
export const OneLine = ({ children, className = "" }: { children: string; className?: string }) => (
  <span className={`block truncate ${className}`} title={children}>
    {children}
  </span>
);

export type TableProps<Data extends Entry> = {
  /** What the table lists: "API keys". */
  label: string;
  columns: readonly Column<Data>[];
  rows: readonly Data[];
  /** The path that a row links to, without a team; null for a row without a link. */
  rowHref?: (row: Data) => string | null;
  /** Alternative to `rowHref`: called when the user opens a row. */
  onOpen?: (row: Data) => void;
  /** Shown when there are no rows. */
  empty?: ReactNode;
  isLoading?: boolean;
  /** The rows belong to the previous query while the next one loads. */
  isStale?: boolean;
};

type Entry = { id: string };

/**
 * A list as a table; on screens below 1,024 px each row is a card. The whole row is the click target of its
 * first column. `j` and `k` move between rows and Enter opens one.
 */
export function DataTable<Data extends Entry>(props: TableProps<Data>) {
  const { label, columns, rows, empty, isLoading, isStale } = props;
  if (isLoading) return <SkeletonTable />;
  if (rows.length === 0) return empty ?? null;
  return (
    <div
      aria-busy={isStale ?? false}
      className={`${cardStyle} overflow-hidden motion-safe:transition-opacity ${isStale ? "opacity-60" : ""}`}
    >
      {/* A text beside numbers keeps a distance from them: they are aligned on the right. */}
      <table
        aria-label={label}
        className="w-full table-fixed border-collapse max-lg:block lg:[&_.text-right+:not(.text-right)]:pl-8"
      >
        <thead className="max-lg:sr-only">
          <tr>
            {columns.map(({ header, width = "", align, isHeaderHidden, isWide }) => (
              <th
                key={header}
                scope="col"
                className={`h-10 border-line border-b px-3 text-left font-normal text-soft text-xs first:pl-4 last:pr-4 ${width} ${align === "right" ? "text-right" : ""} ${isWide ? WIDE : ""}`}
              >
                <span className={isHeaderHidden ? "sr-only" : ""}>{header}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line max-lg:block">
          {rows.map((row) => (
            <Line key={row.id} row={row} {...props} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line<Data extends Entry>({ row, columns, rowHref, onOpen }: TableProps<Data> & { row: Data }) {
  const href = rowHref?.(row) ?? null;
  const canOpen = href !== null || onOpen !== undefined;
  return (
    <tr
      className={`relative max-lg:grid max-lg:min-h-19 max-lg:grid-cols-[minmax(0,1fr)_auto_auto] max-lg:gap-y-1 max-lg:px-4 max-lg:py-3 has-[[data-row]:focus-visible]:bg-sunk ${
        canOpen ? "hover:bg-sunk" : ""
      }`}
    >
      {columns.map((column, index) => (
        <td key={column.header} className={cellStyle(column, index === 0)}>
          {index === 0 ? (
            <Lead href={href} onOpen={onOpen ? () => onOpen(row) : undefined}>
              {column.cell(row)}
            </Lead>
          ) : (
            <>
              {(column.phone ?? "line") === "line" ? (
                <span className="mr-2 inline-block min-w-24 text-soft text-xs lg:hidden">
                  {column.header}
                </span>
              ) : null}
              {column.cell(row)}
            </>
          )}
        </td>
      ))}
    </tr>
  );
}

const WIDE = "lg:max-xl:hidden";

const below = "max-lg:order-2 max-lg:col-span-3 max-lg:text-left";
const PHONE = {
  corner:
    "max-lg:order-1 max-lg:row-start-1 max-lg:col-start-2 max-lg:pl-4 max-lg:justify-self-end max-lg:self-center",
  menu: "max-lg:order-1 max-lg:row-start-1 max-lg:col-start-3 max-lg:pl-3 max-lg:self-center",
  line: below,
  plain: below,
};

function cellStyle(
  { align, phone = "line", isActive, isWhole, isWide }: Column<never>,
  isLead: boolean,
): string {
  const place = isLead
    ? "max-lg:col-start-1 max-lg:row-start-1 max-lg:self-center font-medium"
    : PHONE[phone];
  const text = isActive ? "*:relative *:z-1" : isWhole ? "wrap-anywhere" : "lg:truncate max-lg:break-words";
  return `${place} ${text} ${isWide ? WIDE : ""} min-w-0 lg:h-13 lg:px-3 lg:py-2 lg:first:pl-4 lg:last:pr-4 ${align === "right" ? "text-right tabular-nums" : ""}`;
}

type LeadProps = { href: string | null; onOpen: (() => void) | undefined; children: ReactNode };

/** The name of the row. Its click target covers the whole row. */
function Lead({ href, onOpen, children }: LeadProps) {
  const style =
    "static outline-none after:absolute after:inset-0 after:content-[''] focus-visible:after:outline-2 focus-visible:after:outline-accent focus-visible:after:-outline-offset-2";
  if (href !== null)
    return (
      <RowLink to={href} className={style}>
        {children}
      </RowLink>
    );
  if (onOpen)
    return (
      <button data-row="" type="button" onClick={onOpen} className={`${style} max-w-full text-left`}>
        {children}
      </button>
    );
  // The row does not open, but `j` and `k` still focus it. Clicks pass through to the content of the row.
  return (
    <span data-row="" tabIndex={-1} className={`${style} after:pointer-events-none`}>
      {children}
    </span>
  );
}
