"use client";

import { useQuery } from "@tanstack/react-query";
import { Monitor } from "lucide-react";
import { useState } from "react";
import { Confirm } from "../../_ui/dialog/confirm";
import { Button } from "../../_ui/form/button";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Section } from "../../_ui/page/card";
import { Fetched } from "../../_ui/page/fetched";
import { Badge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { ExpandableList, ListItem } from "./list-item";
import { useAccountAction } from "./use-account-action";

/** The sessions of the user, and how to end them. */
export function SessionsSection() {
  const trpc = useTRPC();
  const [isConfirming, setConfirming] = useState(false);
  const sessions = useQuery(trpc.account.sessions.queryOptions());
  const ending = useAccountAction(trpc.account.endSession.mutationOptions(), { done: "Session ended" });
  const endingAll = useAccountAction(trpc.account.endOtherSessions.mutationOptions(), {
    done: ({ ended }) => (ended === 1 ? "One session ended" : `${ended} sessions ended`),
    onDone: () => setConfirming(false),
  });
  const others = (sessions.data?.length ?? 1) - 1;
  const endOthers = (
    <Button isSmall onClick={() => setConfirming(true)}>
      End all others
    </Button>
  );
  return (
    <Fetched by={sessions} loading={<SkeletonCard lines={4} />}>
      {(rows) => (
        <Section
          title="Sessions"
          note="The devices where you are signed in. Ending a session takes effect immediately."
          actions={others > 0 ? endOthers : null}
        >
          {/* The current session comes first, even if it was idle for a long time. */}
          <ExpandableList
            label="Sessions"
            rows={[...rows].sort((one, other) => Number(other.isCurrent) - Number(one.isCurrent))}
            initialCount={6}
          >
            {({ id, agent, address, createdAt, lastSeenAt, isCurrent }) => (
              <ListItem
                key={id}
                Icon={Monitor}
                title={agent}
                badge={isCurrent ? <Badge tone="good">Current</Badge> : null}
                actions={
                  isCurrent ? null : (
                    <Button
                      isSmall
                      disabled={ending.isBusy}
                      onClick={() => ending.run({ id })}
                      aria-label={`End the session of ${agent}${address ? ` at ${address}` : ""}`}
                    >
                      End
                    </Button>
                  )
                }
              >
                {address ? <span className="wrap-anywhere font-mono">{address}</span> : "Unknown address"} ·
                last active <When at={lastSeenAt} /> · signed in <When at={createdAt} />
              </ListItem>
            )}
          </ExpandableList>
          <Confirm
            open={isConfirming}
            onOpenChange={setConfirming}
            title="End all other sessions?"
            confirmLabel="End sessions"
            action={endingAll}
            onConfirm={() => endingAll.run()}
          >
            <p>
              {others === 1 ? "One other browser has" : `${others} other browsers have`} to sign in again. The
              current session stays active.
            </p>
          </Confirm>
        </Section>
      )}
    </Fetched>
  );
}

/** The recent security events of the account. */
export function EventsSection() {
  const trpc = useTRPC();
  const events = useQuery(trpc.account.events.queryOptions());
  return (
    <Fetched by={events} loading={<SkeletonCard lines={4} />}>
      {(rows) => (
        <Section
          title="Recent security events"
          note="Kept for 90 days. If you do not recognize an event, change your password, which ends all other sessions. If you have no password, end the other sessions yourself."
        >
          {rows.length === 0 ? <p className="px-5 pb-5 text-soft">No security events yet.</p> : null}
          <ExpandableList label="Recent security events" rows={rows} initialCount={8}>
            {({ id, what, subject, address, agent, at }) => (
              <li
                key={id}
                className="flex flex-col gap-x-6 gap-y-0.5 px-5 py-3 md:flex-row md:items-baseline md:justify-between"
              >
                <p className="min-w-0 break-words">
                  {what}
                  {subject ? <span className="text-soft"> · {subject}</span> : null}
                </p>
                <p className="shrink-0 text-soft text-xs leading-5">
                  {agent ? `${agent} · ` : ""}
                  {address ? <span className="wrap-anywhere font-mono">{address}</span> : "The operator"} ·{" "}
                  <When at={at} />
                </p>
              </li>
            )}
          </ExpandableList>
        </Section>
      )}
    </Fetched>
  );
}
