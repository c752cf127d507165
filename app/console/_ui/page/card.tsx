import { type ReactNode, useId } from "react";
import { cardStyle } from "../styles";

/** The card and its heading: with a line below the heading, or with padding around the content. */
const LOOKS = {
  plain: ["", "px-5 pt-4 pb-3"],
  lined: ["", "border-line border-b px-4 py-3"],
  padded: ["p-5 max-md:px-4", "mb-3"],
};

type Props = {
  title: ReactNode;
  note?: ReactNode;
  /** Buttons at the right of the heading. */
  actions?: ReactNode;
  look?: keyof typeof LOOKS;
  children: ReactNode;
};

/** A card with a heading. */
export function Section({ title, note, actions, look = "plain", children }: Props) {
  const id = useId();
  const [style, headingStyle] = LOOKS[look];
  return (
    <section aria-labelledby={id} className={`${cardStyle} min-w-0 ${style}`}>
      <div className={`flex flex-wrap items-center justify-between gap-x-6 gap-y-3 ${headingStyle}`}>
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

/** A part of a page with a heading above its content, such as a table. */
export function Part({ title, children }: Pick<Props, "title" | "children">) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="mb-3 font-semibold">
        {title}
      </h2>
      {children}
    </section>
  );
}

/** A card with a heading above a line, for a list or a description list. */
export const Card = (props: Omit<Props, "look">) => <Section look="lined" {...props} />;

/** A card with padding around its content. */
export const SideCard = (props: Omit<Props, "look">) => <Section look="padded" {...props} />;
