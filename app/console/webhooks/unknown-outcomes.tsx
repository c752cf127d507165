"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleHelp } from "lucide-react";
import Link from "next/link";
import { Fetched } from "../_ui/page/fetched";
import { cardStyle, linkStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";

const refetchMs = 15_000;

type Props = { teamId: string; hasEndpoints: boolean };

/** The number of emails with an unknown outcome, and whether a webhook subscribes to `email.unknown`. */
export function UnknownOutcomes({ teamId, hasEndpoints }: Props) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const query = useQuery(
    trpc.webhooks.heldUnknown.queryOptions({ team: teamId }, { refetchInterval: refetchMs }),
  );
  const { data } = query;
  if (query.error && !data)
    return (
      <div className="mt-6">
        <Fetched by={query}>{null}</Fetched>
      </div>
    );
  if (!data || (data.emails === 0 && !hasEndpoints)) return null;
  const { emails, isAtLeast, policy, isSubscribed } = data;
  return (
    <section aria-labelledby="held-unknown" className={`${cardStyle} mt-6 flex gap-3.5 p-5`}>
      <CircleHelp
        className={`mt-0.5 size-5 shrink-0 ${emails > 0 ? "text-warn" : "text-soft"}`}
        aria-hidden="true"
      />
      <div className="flex min-w-0 flex-col gap-1.5 leading-6">
        <h2 id="held-unknown" className="font-semibold">
          {emails === 0
            ? "No emails with an unknown outcome"
            : `${isAtLeast ? "At least " : ""}${emails} ${emails === 1 ? "email" : "emails"} with an unknown outcome`}
        </h2>
        <p className="max-w-prose text-soft">
          If the connection drops before the server responds, the outcome is unknown.{" "}
          {policy === "hold"
            ? "This team holds these emails until a member or an API request resolves them."
            : "This team sends these emails again automatically."}{" "}
          {isSubscribed
            ? "A webhook subscribes to email.unknown."
            : "No webhook subscribes to email.unknown."}
        </p>
        <p className="flex flex-wrap gap-x-4">
          {emails > 0 ? (
            <Link href={hrefOf("/console/emails", { status: "unknown" })} className={linkStyle}>
              Resolve in Emails
            </Link>
          ) : null}
          <Link href={hrefOf("/console/settings/team")} className={linkStyle}>
            Team settings
          </Link>
        </p>
      </div>
    </section>
  );
}
