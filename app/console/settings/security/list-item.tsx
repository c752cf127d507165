"use client";

import type { LucideIcon } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../../_ui/form/button";
import { AddressText } from "../../_ui/text/address";

/** A list of items inside a section. */
export function ItemList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className="divide-y divide-line border-line border-t">
      {children}
    </ul>
  );
}

type ExpandableProps<Row> = {
  label: string;
  rows: readonly Row[];
  initialCount: number;
  children: (row: Row) => ReactNode;
};

/** The first items of a long list, and a button that shows the rest. */
export function ExpandableList<Row>({ label, rows, initialCount, children }: ExpandableProps<Row>) {
  const [isExpanded, setExpanded] = useState(false);
  const hiddenCount = isExpanded ? 0 : Math.max(0, rows.length - initialCount);
  return (
    <>
      <ItemList label={label}>{rows.slice(0, rows.length - hiddenCount).map(children)}</ItemList>
      {hiddenCount > 0 ? (
        <div className="border-line border-t px-5 py-2">
          <Button tone="quiet" isSmall className="-ml-2" onClick={() => setExpanded(true)}>
            Show {hiddenCount} more
          </Button>
        </div>
      ) : null}
    </>
  );
}

type Props = {
  Icon: LucideIcon;
  title: ReactNode;
  /** The state, shown next to the title. */
  badge?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
};

/** One item with title, description and actions. */
export function ListItem({ Icon, title, badge, actions, children }: Props) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-3 px-5 py-3.5">
      <Icon className="size-5 shrink-0 text-soft" aria-hidden="true" />
      <div className="min-w-0 grow basis-36">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <p className="min-w-0 break-words font-medium">
            {typeof title === "string" ? <AddressText>{title}</AddressText> : title}
          </p>
          {badge}
        </div>
        <div className="text-soft text-xs leading-5">{children}</div>
      </div>
      {actions ? <div className="flex shrink-0 items-center gap-1.5">{actions}</div> : null}
    </li>
  );
}
