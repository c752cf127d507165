import { type ReactNode, useId } from "react";
import { cardStyle } from "../styles";

/** A card with a heading above a line, for a list or a description list. */
export function Card({ title, children }: { title: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={`${cardStyle} min-w-0`}>
      <h2 id={id} className="border-line border-b px-4 py-3 font-semibold">
        {title}
      </h2>
      {children}
    </section>
  );
}
