import type { QueryKey } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";
import type { DomainView } from "#server/trpc/domains/views";
import { cardStyle } from "../../_ui/styles";

/** Props of each card of the page. `disabledReason`: why the member cannot change the domain; undefined if they can. */
export type CardProps = {
  teamId: string;
  domain: DomainView;
  refresh: QueryKey[];
  disabledReason: string | undefined;
};

/** A card beside the records, with its heading. */
export function SideCard({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={`${cardStyle} p-5`}>
      <div className="mb-3 flex items-center justify-between gap-3">
        <h2 id={id} className="font-semibold">
          {title}
        </h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
