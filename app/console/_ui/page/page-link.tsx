"use client";

import Link from "next/link";
import { type ComponentProps, useState } from "react";

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
