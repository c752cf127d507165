import { Inbox, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../form/button";
import { cardStyle } from "../styles";

type Props = {
  /** What the list contains. */
  icon?: LucideIcon;
  title: string;
  /** The next step: a button or a link. */
  action?: ReactNode;
  /** What the list will contain and what it is useful for. */
  children: ReactNode;
  /** Without a card of its own, for use inside one. */
  isBare?: boolean;
};

/** An empty state: what is missing and what to do next. */
export const Empty = ({ icon: Icon = Inbox, title, action, children, isBare = false }: Props) => (
  <div className={`flex flex-col items-center px-4 py-16 text-center ${isBare ? "" : cardStyle}`}>
    <span className="mb-4 grid size-11 place-items-center rounded-xl border border-line bg-sunk text-soft">
      <Icon className="size-5" />
    </span>
    <h2 className="font-semibold text-base">{title}</h2>
    <div className="mt-2 flex w-full flex-col items-center gap-4 text-balance text-soft leading-6 [&>p]:max-w-md">
      {children}
    </div>
    {action ? <div className="mt-6 flex flex-wrap justify-center gap-2">{action}</div> : null}
  </div>
);

type NoMatchProps = Pick<Props, "icon" | "title" | "children"> & { onClear: () => void; clears?: string };

/** The empty state of a list whose filters match nothing. */
export function NoMatch({ onClear, clears = "filters", ...empty }: NoMatchProps) {
  const clear = <Button onClick={onClear}>Clear {clears}</Button>;
  return <Empty {...empty} action={clear} />;
}

/** The empty state of a later page whose entries no longer exist. */
export const PageGone = () => (
  <Empty title="This page is empty">
    <p>Its entries were deleted or moved to another page of the list.</p>
  </Empty>
);
