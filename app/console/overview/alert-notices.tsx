"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { TextLink } from "../_ui/page/page-link";
import { MessageText } from "../_ui/text/address";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";

const refetchMs = 30_000;
/** Its reason is in the line above each page. */
const shownElsewhere = "team_paused";

function targetOf(page: string) {
  const [to = page, filters] = page.split("?");
  return { to, parameters: Object.fromEntries(new URLSearchParams(filters)) };
}

/**
 * The open alerts of the team, and for operators of the installation, each with what to do. Nothing without
 * one.
 */
export function AlertNotices({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const { data = [] } = useQuery(
    trpc.alerts.ofTeam.queryOptions({ team: teamId }, { refetchInterval: refetchMs }),
  );
  const alerts = data.filter(({ kind }) => kind !== shownElsewhere);
  if (alerts.length === 0) return null;
  return (
    <section aria-label="Open alerts" className="mb-6 flex flex-col gap-3">
      {alerts.map(({ id, title, message, toDo, page, openedAt }) => (
        <article key={id} className="flex gap-3 rounded-xl bg-warn-tint px-4 py-3 text-warn leading-6">
          <TriangleAlert className="mt-1 size-4 shrink-0" />
          <div className="min-w-0">
            <h2 className="font-medium">
              <TextLink {...targetOf(page)} className="rounded underline">
                {title}
              </TextLink>
            </h2>
            <p className="break-words">
              <MessageText>{`${message} ${toDo}`}</MessageText> Opened <When at={openedAt} />.
            </p>
          </div>
        </article>
      ))}
    </section>
  );
}
