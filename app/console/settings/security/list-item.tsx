import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { buttonStyle } from "../../_ui/styles";

/** A list of items inside a section. */
export function ItemList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className="divide-y divide-line border-line border-t">
      {children}
    </ul>
  );
}

type Props = {
  Icon?: LucideIcon;
  title: ReactNode;
  /** The state, shown next to the title. */
  badge?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
};

/** One item with title, description and actions. */
export function ListItem({ Icon, title, badge, actions, children }: Props) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-3 px-5 py-3.5">
      {Icon ? <Icon className="size-5 shrink-0 text-soft" aria-hidden="true" /> : null}
      <div className="min-w-0 grow basis-36">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <p className="min-w-0 break-words font-medium">{title}</p>
          {badge}
        </div>
        {children ? <div className="text-soft text-xs leading-5">{children}</div> : null}
      </div>
      {actions ? <div className="flex shrink-0 items-center gap-1.5">{actions}</div> : null}
    </li>
  );
}

/** A button that shows the rest of a list. */
export function ShowMore({ count, onClick }: { count: number; onClick: () => void }) {
  return (
    <div className="border-line border-t px-5 py-2">
      <button type="button" onClick={onClick} className={`${buttonStyle.quiet} -ml-2 h-9`}>
        Show {count} more
      </button>
    </div>
  );
}
