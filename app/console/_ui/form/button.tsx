import type { ComponentProps } from "react";
import { buttonStyle } from "../styles";

type Props = Omit<ComponentProps<"button">, "type"> & {
  tone?: keyof typeof buttonStyle;
  /** Small buttons are for headings and list items. */
  isSmall?: boolean;
};

/** A button that does not submit a form. */
export const Button = ({ tone = "plain", isSmall, className = "", ...button }: Props) => (
  <button
    type="button"
    {...button}
    className={`${buttonStyle[tone]} ${isSmall ? "h-9" : "h-10"} ${className}`}
  />
);
