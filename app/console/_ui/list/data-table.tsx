"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { cardStyle } from "../styles";
import { useConsoleHref } from "../team";
import { SkeletonTable } from "./skeleton";

/** A column of a list. The first one names the row and holds its link, if the row has one. */
export type Column<Data> = {
  id: string;
  header: string;
  cell: (row: Data) => ReactNode;
  /** Width on wide screens, as a Tailwind class: "w-40". Columns without a width share the remaining space. */
  width?: string;
  align?: "right";
  /** Position on a phone: "corner" is right of the name, "line" below it with its header, "plain" below it without. */
  phone?: "corner" | "line" | "plain" | "hidden";
  /** Contains its own buttons or links, which must be above the link of the row. */
  isActive?: boolean;
  /** For a column of buttons: only screen readers get its header. */
  isHeaderHidden?: boolean;
};

/** A column with the menu of each row: all but its cell. */
export const MENU_COLUMN = {
  id: "actions",
  header: "Actions",
  width: "w-16",
  align: "right",
  phone: "corner",
  isActive: true,
  isHeaderHidden: true,
} as const;

type Props<Data extends Entry> = {
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
 * A list as a table; on a phone each row is a card. The whole row is the click target of its first column. `j` and `k`
 * move between rows and Enter opens one.
 */
export function DataTable<Data extends Entry>(props: Props<Data>) {
  const { label, columns, rows, empty, isLoading, isStale } = props;
  if (isLoading) return <SkeletonTable />;
  if (rows.length === 0) return empty ?? null;
  return (
    <div
      aria-busy={isStale ?? false}
      className={`${cardStyle} overflow-hidden motion-safe:transition-opacity ${isStale ? "opacity-60" : ""}`}
    >
      <table aria-label={label} className="w-full table-fixed border-collapse max-md:block">
        <thead className="max-md:sr-only">
          <tr>
            {columns.map(({ id, header, width = "", align, isHeaderHidden }) => (
              <th
                key={id}
                scope="col"
                className={`h-10 border-line border-b px-3 text-left font-normal text-soft text-xs first:pl-4 last:pr-4 ${width} ${align === "right" ? "text-right" : ""}`}
              >
                <span className={isHeaderHidden ? "sr-only" : ""}>{header}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line max-md:block">
          {rows.map((row) => (
            <Line key={row.id} row={row} {...props} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line<Data extends Entry>({ row, columns, rowHref, onOpen }: Props<Data> & { row: Data }) {
  const href = rowHref?.(row) ?? null;
  const canOpen = href !== null || onOpen !== undefined;
  return (
    <tr
      className={`relative max-md:grid max-md:min-h-19 max-md:grid-cols-[minmax(0,1fr)_auto] max-md:gap-x-4 max-md:gap-y-1 max-md:px-4 max-md:py-3 has-[[data-row]:focus-visible]:bg-sunk ${
        canOpen ? "hover:bg-sunk" : ""
      }`}
    >
      {columns.map((column, index) => (
        <td key={column.id} className={cellStyle(column, index === 0)}>
          {index === 0 ? (
            <Lead href={href} onOpen={onOpen ? () => onOpen(row) : undefined}>
              {column.cell(row)}
            </Lead>
          ) : (
            <>
              {(column.phone ?? "line") === "line" ? (
                <span className="mr-2 inline-block min-w-24 text-soft text-xs md:hidden">
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

const PHONE = {
  corner: "max-md:order-1 max-md:row-start-1 max-md:col-start-2 max-md:justify-self-end max-md:self-center",
  line: "max-md:order-2 max-md:col-span-2 max-md:text-left",
  plain: "max-md:order-2 max-md:col-span-2 max-md:text-left",
  hidden: "max-md:hidden",
};

function cellStyle(
  { align, phone = "line", isActive }: Pick<Column<Entry>, "align" | "phone" | "isActive">,
  isLead: boolean,
): string {
  const place = isLead ? "max-md:col-start-1 max-md:row-start-1 font-medium" : PHONE[phone];
  const text = isActive ? "*:relative *:z-1" : "md:truncate max-md:break-words";
  return `${place} ${text} min-w-0 md:h-13 md:px-3 md:py-2 md:first:pl-4 md:last:pr-4 ${align === "right" ? "text-right tabular-nums" : ""}`;
}

type LeadProps = { href: string | null; onOpen: (() => void) | undefined; children: ReactNode };

/** The name of the row. Its click target covers the whole row. */
function Lead({ href, onOpen, children }: LeadProps) {
  const hrefOf = useConsoleHref();
  const style =
    "static outline-none after:absolute after:inset-0 after:content-[''] focus-visible:after:outline-2 focus-visible:after:outline-accent focus-visible:after:-outline-offset-2";
  if (href !== null)
    return (
      <Link data-row="" href={hrefOf(href)} prefetch={false} className={style}>
        {children}
      </Link>
    );
  if (onOpen)
    return (
      <button data-row="" type="button" onClick={onOpen} className={`${style} max-w-full truncate text-left`}>
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
