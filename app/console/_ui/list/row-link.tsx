"use client";

import Link from "next/link";
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { tryStorage } from "../storage";

/** The address of a list, with its filters and page, and that of the row that was opened from it. */
type Opened = { list: string; row: string };

const keyOf = (listPath: string) => `opened-row:${listPath}`;

/** The row that this tab last opened from the list at a path. */
export function lastOpenedRow(listPath: string): Opened | null {
  return tryStorage(() => JSON.parse(sessionStorage.getItem(keyOf(listPath)) ?? "null"));
}

type Props = {
  href: string;
  className: string;
  onKeyDown?: (event: KeyboardEvent) => void;
  children: ReactNode;
};

/**
 * The link of a row. It has the focus again when the user returns to the list, unless something else has the
 * focus.
 */
export function RowLink({ href, ...props }: Props) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    const isFree = document.activeElement === document.body;
    if (isFree && lastOpenedRow(location.pathname)?.row === href) link.current?.focus();
  }, [href]);
  const remember = () => {
    const { pathname, search } = location;
    const opened: Opened = { list: `${pathname}${search}`, row: href };
    tryStorage(() => sessionStorage.setItem(keyOf(pathname), JSON.stringify(opened)));
  };
  return <Link ref={link} data-row="" href={href} prefetch={false} onClick={remember} {...props} />;
}
