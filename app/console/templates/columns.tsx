import type { TemplateRow } from "#server/trpc/templates/templates";
import type { Column } from "../_ui/list/data-table";
import { When } from "../_ui/text/when";
import { TemplateStateBadge } from "./[id]/state-badge";

/** The columns of the list of templates. */
export const TEMPLATE_COLUMNS: readonly Column<TemplateRow>[] = [
  {
    id: "name",
    header: "Name",
    cell: ({ name, alias }) => (
      <>
        <span className="block truncate" title={name}>
          {name}
        </span>
        <span className="block truncate font-mono font-normal text-soft text-xs">{alias ?? "no alias"}</span>
      </>
    ),
  },
  {
    id: "version",
    header: "Version",
    width: "w-24",
    cell: ({ currentNumber, publishedNumber }) => (
      <span className="tabular-nums">
        {publishedNumber === null || publishedNumber === currentNumber
          ? currentNumber
          : `${publishedNumber} → ${currentNumber}`}
      </span>
    ),
  },
  {
    id: "changed",
    header: "Updated",
    width: "w-28",
    cell: ({ updated_at }) => <When at={updated_at} />,
  },
  {
    id: "used",
    header: "Last used",
    width: "w-28",
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? (
        <When at={lastUsedAt} />
      ) : (
        <span className="text-soft" title="No stored email uses this template">
          Never
        </span>
      ),
  },
  {
    id: "state",
    header: "State",
    width: "w-32",
    phone: "corner",
    cell: (row) => <TemplateStateBadge {...row} />,
  },
];
