"use client";

import Link from "next/link";
import { type ComponentProps, useState } from "react";

/**
 * A link to a page of the console, which is fetched ahead once somebody means it: the pointer or the focus is on it. At
 * sight, every page that anybody opens would cost the server all the pages of its menu.
 */
export function PageLink(props: Omit<ComponentProps<typeof Link>, "prefetch">) {
  const [isMeant, setMeant] = useState(false);
  const onMeant = () => setMeant(true);
  return <Link {...props} prefetch={isMeant ? null : false} onPointerEnter={onMeant} onFocus={onMeant} />;
}
