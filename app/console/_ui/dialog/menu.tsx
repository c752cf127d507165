"use client";

import { Ellipsis } from "lucide-react";
import { type ComponentType, type ReactNode, Suspense, useState } from "react";
import { lazyPart } from "../page/lazy-part";
import { iconButtonStyle } from "../styles";

export type MenuItem =
  | {
      label: string;
      /** Required when two items have the same label. */
      id?: string;
      Icon?: ComponentType<{ className?: string }>;
      tone?: "bad";
      /**
       * Why the user cannot use the item. It then does nothing, and shows the reason while it has the focus.
       */
      why?: string | undefined;
      onSelect?: () => void;
      /** Alternative to `onSelect`: the URL of a page or a download. */
      href?: string;
    }
  | "line";

export type MenuProps = {
  /** The accessible name of the menu: "Actions for Shop". */
  label: string;
  items: readonly MenuItem[];
  /** A choice of one value, above the items. */
  choice?: {
    label: string;
    options: readonly { value: string; label: string }[];
    value: string;
    onChange: (value: string) => void;
  };
  /** Choices that are each on or off, above the items. The menu stays open. */
  marks?: {
    options: readonly { value: string; label: string }[];
    values: readonly string[];
    onChange: (values: string[]) => void;
  };
  /** Whether the menu is rendered beside its button, not in `main`. */
  isInline?: boolean;
  /** The content of the button; the default is three dots. */
  children?: ReactNode;
  className?: string;
  /** The edge of the button that the menu is aligned with. */
  align?: "start" | "end";
};

const OpenMenu = lazyPart(async () => (await import("./menu-open")).OpenMenu);

/** A menu of further actions. Its code loads on hover, focus or click. */
export function Menu(props: MenuProps) {
  const [isRequested, setRequested] = useState(false);
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={OpenMenu.preload}
      onFocus={OpenMenu.preload}
      onClick={() => setRequested(true)}
      {...menuButtonProps(props)}
    >
      {menuButtonFace(props)}
    </button>
  );
  if (!isRequested) return button;
  return (
    <Suspense fallback={button}>
      <OpenMenu {...props} />
    </Suspense>
  );
}

/** Props of the button, the same before and after the code of the menu is loaded. */
export const menuButtonProps = ({ label, children, className }: MenuProps) => ({
  ...(children ? {} : { "aria-label": label, title: label }),
  className: className ?? iconButtonStyle,
});

export const menuButtonFace = ({ children }: MenuProps) =>
  children ?? <Ellipsis className="size-4" aria-hidden="true" />;
