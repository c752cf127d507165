"use client";

import { Ellipsis } from "lucide-react";
import { type ReactNode, Suspense, useState } from "react";
import { lazyPart } from "../page/lazy-part";
import { iconButtonStyle } from "../styles";
import type { MenuProps } from "./menu-open";

const OpenMenu = lazyPart(async () => (await import("./menu-open")).OpenMenu);

type Props = Omit<MenuProps, "button"> & {
  /** The content of the button; the default is three dots. */
  children?: ReactNode;
  className?: string;
};

/** A menu of further actions. Its code loads on hover, focus or click. */
export function Menu({ children, className = iconButtonStyle, ...menu }: Props) {
  const [isRequested, setRequested] = useState(false);
  const content = {
    ...(children ? {} : { "aria-label": menu.label, title: menu.label }),
    className,
    children: children ?? <Ellipsis className="size-4" />,
  };
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={OpenMenu.preload}
      onFocus={OpenMenu.preload}
      onClick={() => setRequested(true)}
      {...content}
    />
  );
  if (!isRequested) return button;
  return (
    <Suspense fallback={button}>
      <OpenMenu {...menu} button={content} />
    </Suspense>
  );
}
