"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleHelp } from "lucide-react";
import Link from "next/link";
import { Fetched } from "../_ui/fetched";
import { cardStyle, linkStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";

const askAgainMs = 15_000;

type Props = { teamId: string; hasEndpoints: boolean };

/** Mail of which nobody can tell whether it arrived: how much, who hears of it, and where it is settled. */
export function HeldUnknown({ teamId, hasEndpoints }: Props) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { data, error, refetch } = useQuery(
    trpc.webhooks.heldUnknown.queryOptions({ team: teamId }, { refetchInterval: askAgainMs }),
  );
  if (error && !data)
    return (
      <div className="mt-6">
        <Fetched by={{ data, error, refetch }}>{null}</Fetched>
      </div>
    );
  if (!data || (data.emails === 0 && !hasEndpoints)) return null;
  const { emails, isAtLeast, policy, isHeard } = data;
  const href = hrefOf("/console/emails");
  return (
    <section aria-labelledby="held-unknown" className={`${cardStyle} mt-6 flex gap-3.5 p-5`}>
      <CircleHelp
        className={`mt-0.5 size-5 shrink-0 ${emails > 0 ? "text-warn" : "text-soft"}`}
        aria-hidden="true"
      />
      <div className="flex min-w-0 flex-col gap-1.5 leading-6">
        <h2 id="held-unknown" className="font-semibold">
          {emails === 0
            ? "No mail of unknown outcome"
            : `${isAtLeast ? "At least " : ""}${emails} ${emails === 1 ? "mail" : "mails"} of unknown outcome`}
        </h2>
        <p className="max-w-prose text-soft">
          A connection that breaks after the last byte leaves open whether the mail was taken.{" "}
          {policy === "hold"
            ? "This team holds such mail until somebody decides: send it again, or leave it at that."
            : "This team sends such mail again by itself."}{" "}
          {isHeard
            ? "A webhook hears of it as email.unknown."
            : "No webhook asks for email.unknown, so no program hears of it."}
        </p>
        {emails > 0 ? (
          <Link
            href={`${href}${href.includes("?") ? "&" : "?"}status=unknown`}
            className={`${linkStyle} self-start`}
          >
            Settle it in Emails
          </Link>
        ) : null}
      </div>
    </section>
  );
}
