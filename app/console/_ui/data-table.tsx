"use client";

import { type ColumnDef, FlexRender, type Row, tableFeatures, useTable } from "@tanstack/react-table";
import Link from "next/link";
import { type ReactNode, useMemo } from "react";
import { SkeletonTable } from "./skeleton";
import { cardStyle } from "./styles";
import { useConsoleHref } from "./team";

/** A column of a list. The first one names the row, and is the link where the row leads somewhere. */
export type Column<Data> = {
  id: string;
  header: string;
  cell: (row: Data) => ReactNode;
  /** Width on wide screens, as Tailwind says it: "w-40". The rest share what is left. */
  width?: string;
  align?: "right";
  /** On a phone: "corner" stands right of the name, "line" below it with its header before it, "plain" below it alone. */
  phone?: "corner" | "line" | "plain" | "hidden";
  /** Holds buttons or links of its own, which lie above the row's link. */
  isActive?: boolean;
  /** A column of buttons: its header is only said, not shown. */
  isHeaderHidden?: boolean;
};

type Props<Data extends Entry> = {
  /** What it lists: "API keys". */
  label: string;
  columns: readonly Column<Data>[];
  rows: readonly Data[];
  /** Where a row leads, a path of the console without a team; null where this one leads nowhere. */
  rowHref?: (row: Data) => string | null;
  /** In place of `rowHref`: what a press on the row opens. */
  onOpen?: (row: Data) => void;
  /** Stands here while there are no rows. */
  empty?: ReactNode;
  isLoading?: boolean;
  /** The rows are those of an earlier question; the next ones are on their way. */
  isStale?: boolean;
};

const features = tableFeatures({});
type Features = typeof features;

type Entry = { id: string };

/**
 * A list as a table, whose rows are cards on a phone. The whole row opens what its first column names, where that leads
 * anywhere; `j` and `k` move from row to row, Enter opens. `columns` and `rows` are to be stable between renders.
 */
export function DataTable<Data extends Entry>(props: Props<Data>) {
  const { label, columns, rows, empty, isLoading, isStale } = props;
  const defined = useMemo(() => columns.map(defineColumn), [columns]);
  const table = useTable<Features, Data>({ features, columns: defined, data: rows, getRowId });
  if (isLoading) return <SkeletonTable />;
  if (rows.length === 0) return empty ?? null;
  return (
    <div
      aria-busy={isStale ?? false}
      className={`${cardStyle} overflow-hidden motion-safe:transition-opacity ${isStale ? "opacity-60" : ""}`}
    >
      <table aria-label={label} className="w-full table-fixed border-collapse max-md:block">
        <thead className="max-md:sr-only">
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => {
                const column = columns[header.index];
                return (
                  <th
                    key={header.id}
                    scope="col"
                    className={`h-10 border-line border-b px-3 text-left font-normal text-soft text-xs first:pl-4 last:pr-4 ${column?.width ?? ""} ${column?.align === "right" ? "text-right" : ""}`}
                  >
                    <span className={column?.isHeaderHidden ? "sr-only" : ""}>
                      <FlexRender header={header} />
                    </span>
                  </th>
                );
              })}
            </tr>
          ))}
        </thead>
        <tbody className="divide-y divide-line max-md:block">
          {table.getRowModel().rows.map((row) => (
            <Line key={row.id} row={row} {...props} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const getRowId = ({ id }: Entry) => id;

const defineColumn = <Data extends Entry>(column: Column<Data>): ColumnDef<Features, Data> => ({
  id: column.id,
  header: column.header,
  cell: ({ row }) => column.cell(row.original),
});

type LineProps<Data extends Entry> = Props<Data> & { row: Row<Features, Data> };

function Line<Data extends Entry>({ row, columns, rowHref, onOpen }: LineProps<Data>) {
  const href = rowHref?.(row.original) ?? null;
  const opens = href !== null || onOpen !== undefined;
  return (
    <tr
      className={`relative max-md:grid max-md:min-h-19 max-md:grid-cols-[minmax(0,1fr)_auto] max-md:gap-x-4 max-md:gap-y-1 max-md:px-4 max-md:py-3 has-[[data-row]:focus-visible]:bg-sunk ${
        opens ? "hover:bg-sunk" : ""
      }`}
    >
      {row.getAllCells().map((cell, place) => {
        const column = columns[place];
        if (column === undefined) return null;
        const isLead = place === 0;
        const content = <FlexRender cell={cell} />;
        return (
          <td key={cell.id} className={cellStyle(column, isLead)}>
            {isLead ? (
              <Lead href={href} onOpen={onOpen ? () => onOpen(row.original) : undefined}>
                {content}
              </Lead>
            ) : (
              <>
                {(column.phone ?? "line") === "line" ? (
                  <span className="mr-2 inline-block min-w-24 text-soft text-xs md:hidden">
                    {column.header}
                  </span>
                ) : null}
                {content}
              </>
            )}
          </td>
        );
      })}
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

/** What names the row, stretched over all of it. */
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
  // Nothing opens, but j and k come by. A press goes through to what lies in the row.
  return (
    <span data-row="" tabIndex={-1} className={`${style} after:pointer-events-none`}>
      {children}
    </span>
  );
}
