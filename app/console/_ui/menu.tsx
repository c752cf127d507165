"use client";

import { Ellipsis } from "lucide-react";
import { type ComponentType, type ReactNode, Suspense, useState } from "react";
import { lazyPart } from "./lazy-part";
import { iconButtonStyle } from "./styles";

export type MenuItem =
  | {
      label: string;
      /** Where two items may have the same label. */
      id?: string;
      Icon?: ComponentType<{ className?: string }>;
      tone?: "bad";
      /** Why it is closed to the reader: it does nothing then, and says this where one stands on it. */
      why?: string | undefined;
      onSelect?: () => void;
      /** In place of `onSelect`: where it leads, or what it downloads. */
      href?: string;
    }
  | "line";

export type MenuProps = {
  /** What the button opens: "Actions for Shop". */
  label: string;
  items: readonly MenuItem[];
  /** The button's face; three dots where none is given. */
  children?: ReactNode;
  className?: string;
  /** Which edge of the button the menu keeps to. */
  align?: "start" | "end";
};

const load = () => import("./menu-open");
const preload = () => void load().catch(() => {});
const OpenMenu = lazyPart(async () => (await load()).OpenMenu);

/** Further acts behind one button. The menu's code comes when somebody is about to open one. */
export function Menu(props: MenuProps) {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setWanted(true)}
      {...menuButtonLook(props)}
    >
      {menuButtonFace(props)}
    </button>
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <OpenMenu {...props} />
    </Suspense>
  );
}

/** What the button has before and after its menu has come. */
export const menuButtonLook = ({ label, children, className }: MenuProps) => ({
  ...(children ? {} : { "aria-label": label, title: label }),
  className: className ?? iconButtonStyle,
});

export const menuButtonFace = ({ children }: MenuProps) =>
  children ?? <Ellipsis className="size-4" aria-hidden="true" />;
