import type { ReactNode } from "react";
import { BackLink } from "./back-link";

type Props = {
  title: ReactNode;
  /** A status badge beside the title. */
  badge?: ReactNode;
  /** One or two sentences that describe the page. */
  description?: ReactNode;
  /** The parent page; `href` is a console path without a team. */
  back?: { href: string; label: string };
  /** Buttons, the primary one last, and then the menu with further actions. */
  actions?: ReactNode;
};

/** The heading of every console page. Loading states render it too, so the layout does not shift. */
export const PageHeading = ({ title, badge, description, back, actions }: Props) => (
  <div className="mb-6">
    {back ? <BackLink {...back} /> : null}
    {/* On wide screens the actions stay beside a long title, which wraps. */}
    <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
      <div className="min-w-0 max-w-full grow md:basis-40">
        <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-2">
          <h1 className="min-w-0 break-words font-semibold text-xl tracking-tight">{title}</h1>
          {badge}
        </div>
        {description ? (
          <div className="mt-1 max-w-prose text-pretty text-soft leading-6">{description}</div>
        ) : null}
      </div>
      {actions ? <div className="flex flex-wrap items-center gap-2 print:hidden">{actions}</div> : null}
    </div>
  </div>
);
