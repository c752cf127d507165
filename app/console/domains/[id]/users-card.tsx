"use client";

import Link from "next/link";
import type { DomainView } from "#server/trpc/domain-views";
import { cardStyle, linkStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";

const SCOPES: Record<DomainView["relays"][number]["scope"], string> = {
  domain: "for this domain",
  team: "for this team",
  everybody: "for the whole installation",
};

/** Who sends from the domain, and by which way its mail leaves. */
export function UsersCard({ domain: { keys, relays } }: { domain: DomainView }) {
  const hrefOf = useConsoleHref();
  return (
    <section aria-labelledby="users" className={`${cardStyle} p-5`}>
      <h2 id="users" className="mb-3 font-semibold">
        Used by
      </h2>
      <dl className="flex flex-col gap-4">
        <div>
          <dt className="mb-1 text-soft text-xs">API keys that send from it</dt>
          <dd>
            {keys.length === 0 ? (
              <p className="leading-6">
                None yet.{" "}
                <Link href={hrefOf("/console/keys")} className={linkStyle}>
                  Link it to a key
                </Link>
                , or make one.
              </p>
            ) : (
              <ul className="flex flex-col gap-1">
                {keys.map(({ id, name, isForAll }) => (
                  <li key={id} className="flex items-baseline justify-between gap-3">
                    <span className="min-w-0 truncate">{name}</span>
                    {isForAll ? <span className="shrink-0 text-soft text-xs">every domain</span> : null}
                  </li>
                ))}
              </ul>
            )}
          </dd>
        </div>
        <div>
          <dt className="mb-1 text-soft text-xs">Way out</dt>
          <dd>
            {relays.length === 0 ? (
              <p className="leading-6">The installation's own way; no relay is set for it.</p>
            ) : (
              <ol className="flex flex-col gap-1">
                {relays.map(({ name, host, scope }) => (
                  <li key={name}>
                    <span className="break-words">{name}</span>{" "}
                    <span className="text-soft text-xs">
                      {SCOPES[scope]}, at <span className="wrap-anywhere font-mono">{host}</span>
                    </span>
                  </li>
                ))}
              </ol>
            )}
            <p className="mt-1 text-soft text-xs leading-5">
              Relays are the operator's to set, at the command line.
            </p>
          </dd>
        </div>
      </dl>
    </section>
  );
}
