"use client";

import Link from "next/link";
import { type ComponentProps, useState } from "react";
import { linkStyle } from "../styles";
import { useConsoleHref } from "../team";

/**
 * A link to a console page, prefetched on hover or focus. Prefetching every visible link would make the
 * server render all pages of the menu for each page that is opened.
 */
export function PageLink(props: Omit<ComponentProps<typeof Link>, "prefetch">) {
  const [isPrefetched, setPrefetched] = useState(false);
  const startPrefetch = () => setPrefetched(true);
  return (
    <Link
      {...props}
      prefetch={isPrefetched ? null : false}
      onPointerEnter={startPrefetch}
      onFocus={startPrefetch}
    />
  );
}

type TextLinkProps = Omit<ComponentProps<typeof Link>, "href" | "prefetch"> & {
  /** The path of a console page, without a team. */
  to: string;
  parameters?: Record<string, string>;
};

/** A link within the content of a page to another page of the current team. It is never prefetched. */
export const TextLink = ({ to, parameters, className = linkStyle, ...link }: TextLinkProps) => (
  <Link {...link} href={useConsoleHref()(to, parameters)} prefetch={false} className={className} />
);
