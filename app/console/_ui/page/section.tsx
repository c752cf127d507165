import { type ReactNode, useId } from "react";
import { cardStyle } from "../styles";

type Props = {
  title: string;
  note?: ReactNode;
  /** Buttons at the right of the heading. */
  actions?: ReactNode;
  children: ReactNode;
};

/** A card with a heading. */
export function Section({ title, note, actions, children }: Props) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={`${cardStyle} min-w-0`}>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 px-5 pt-4 pb-3">
        <div className="flex min-w-0 flex-col gap-1">
          <h2 id={id} className="font-semibold">
            {title}
          </h2>
          {note ? <div className="text-soft text-xs leading-5">{note}</div> : null}
        </div>
        {actions ? <div className="flex flex-wrap items-center gap-2">{actions}</div> : null}
      </div>
      {children}
    </section>
  );
}
