import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { buttonStyle } from "../styles";
import { ActionButton } from "./action-button";

type Props = Omit<ComponentProps<"button">, "type"> & {
  tone?: keyof typeof buttonStyle;
  /** Small buttons are for headings and list items. */
  isSmall?: boolean;
  Icon?: LucideIcon;
  /** Why the user cannot use the button; undefined when they can. */
  disabledReason?: string | undefined;
};

/** A button that does not submit a form. */
export const Button = (props: Props) => {
  const { tone = "plain", isSmall, Icon, disabledReason, className = "", children, ...button } = props;
  return (
    <ActionButton
      {...button}
      disabledReason={disabledReason}
      className={`${buttonStyle[tone]} ${isSmall ? "h-9" : "h-10"} ${className}`}
    >
      {Icon ? <Icon className="size-4" /> : null}
      {children}
    </ActionButton>
  );
};
