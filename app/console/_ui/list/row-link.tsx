"use client";

import Link from "next/link";
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { lastOpenedRow, rememberRow } from "../opened-row";
import { useConsoleHref } from "../team";

type Props = {
  /** The path of the page, without a team. */
  to: string;
  className: string;
  onKeyDown?: (event: KeyboardEvent) => void;
  children: ReactNode;
};

/**
 * The link of a row. It has the focus again when the user returns to the list, unless something else has the
 * focus.
 */
export function RowLink({ to, ...props }: Props) {
  const href = useConsoleHref()(to);
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    const isFree = document.activeElement === document.body;
    if (isFree && lastOpenedRow(location.pathname)?.row === href) link.current?.focus();
  }, [href]);
  return (
    <Link ref={link} data-row="" href={href} prefetch={false} onClick={() => rememberRow(href)} {...props} />
  );
}
