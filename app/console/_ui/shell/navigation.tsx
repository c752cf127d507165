"use client";

import { usePathname } from "next/navigation";
import { PageLink } from "../page/page-link";
import { isWithin, PAGES, REFERENCE } from "../palette/pages";
import { useConsoleHref } from "../team";

const lineStyle =
  "flex h-11 items-center gap-2.5 rounded-lg px-2.5 font-medium motion-safe:transition-colors md:h-9";
const awayStyle = `${lineStyle} text-soft hover:bg-mute-tint hover:text-ink`;

/** Links to the console pages of the current team and to the API reference. */
export function Navigation({ onLeave }: { onLeave?: () => void }) {
  const pathname = usePathname();
  const hrefOf = useConsoleHref();
  return (
    <nav aria-label="Console" className="flex flex-col gap-0.5">
      {PAGES.map(({ path, label, Icon }) => {
        const isHere = isWithin(pathname, path);
        return (
          <PageLink
            key={path}
            href={hrefOf(path)}
            {...(onLeave ? { onClick: onLeave } : {})}
            {...(isHere ? { "aria-current": "page" as const } : {})}
            className={isHere ? `${lineStyle} bg-mute-tint text-ink` : awayStyle}
          >
            <Icon className="size-4" aria-hidden="true" />
            {label}
          </PageLink>
        );
      })}
      <a href={REFERENCE.path} className={`${awayStyle} mt-4`}>
        <REFERENCE.Icon className="size-4" aria-hidden="true" />
        {REFERENCE.label}
      </a>
    </nav>
  );
}
