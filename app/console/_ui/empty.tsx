import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { buttonStyle, cardStyle } from "./styles";

type Props = {
  icon?: LucideIcon;
  title: string;
  /** What to do next: a button or a link. */
  action?: ReactNode;
  /** What would stand here, and why somebody would want it. */
  children: ReactNode;
  /** Inside a card that is there already. */
  isBare?: boolean;
};

/** What stands where there is nothing yet, and what to do about it. */
export function Empty({ icon: Icon, title, action, children, isBare = false }: Props) {
  return (
    <div className={`flex flex-col items-center px-4 py-16 text-center ${isBare ? "" : cardStyle}`}>
      {Icon ? (
        <span className="mb-4 grid size-11 place-items-center rounded-xl border border-line bg-sunk text-soft">
          <Icon className="size-5" aria-hidden="true" />
        </span>
      ) : null}
      <h2 className="font-semibold text-base">{title}</h2>
      <div className="mt-2 flex w-full max-w-md flex-col items-center gap-4 text-balance text-soft leading-6">
        {children}
      </div>
      {action ? <div className="mt-6 flex flex-wrap justify-center gap-2">{action}</div> : null}
    </div>
  );
}

type NoMatchProps = Pick<Props, "icon" | "title" | "children"> & { onClear: () => void; clears?: string };

/** What stands where the filters let nothing through. */
export function NoMatch({ onClear, clears = "filters", ...empty }: NoMatchProps) {
  const clear = (
    <button type="button" onClick={onClear} className={`${buttonStyle.plain} h-10`}>
      Clear the {clears}
    </button>
  );
  return <Empty {...empty} action={clear} />;
}

/** What stands on a later page of a list whose entries are gone meanwhile. */
export function PageGone() {
  return (
    <Empty title="Nothing on this page any more">
      <p>What stood here is gone, or stands on another page of the list.</p>
    </Empty>
  );
}
