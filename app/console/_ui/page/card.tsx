import { type ReactNode, useId } from "react";
import { cardStyle } from "../styles";

/** A card with a heading above a line, for a list or a description list. */
export function Card({
  title,
  action,
  children,
}: {
  title: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={`${cardStyle} min-w-0`}>
      <div className="flex items-center justify-between gap-3 border-line border-b px-4 py-3">
        <h2 id={id} className="font-semibold">
          {title}
        </h2>
        {action}
      </div>
      {children}
    </section>
  );
}
