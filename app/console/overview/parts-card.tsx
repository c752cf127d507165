"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import type { PartsView } from "#server/trpc/overview-views";
import { Badge } from "../_ui/badge";
import type { Tone } from "../_ui/statuses";
import { cardStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { useNowMs, When } from "../_ui/when";
import { ShownUrl } from "../webhooks/shown-url";

/** A worker beats every few seconds, a scheduled round once in minutes. */
const aliveMs = 600_000;

const WAYS: Record<string, string> = {
  relay: "by SMTP_URL and relays",
  direct: "straight to the recipients' servers",
  capture: "into capture, which delivers to nobody",
  none: "by relays alone",
};

/** Whether what mail goes through works: the worker, the relays, the webhooks. */
export function PartsCard({ parts }: { parts: PartsView }) {
  const hrefOf = useConsoleHref();
  const nowMs = useNowMs();
  const { relays, smtpUrl, webhooks, worker } = parts;
  const lives = worker !== null && nowMs - Date.parse(worker.seenAt) < aliveMs;
  const trouble = webhooks.filter(
    ({ status, failingSince }) => status === "disabled" || failingSince !== null,
  );
  return (
    <section aria-labelledby="parts" className={`${cardStyle} min-w-0`}>
      <h2 id="parts" className="border-line border-b px-5 py-3.5 font-semibold">
        Health
      </h2>
      <ul className="divide-y divide-line">
        <Part
          name="Worker"
          tone={lives ? "good" : "bad"}
          state={lives ? "Running" : worker ? "Gone" : "Never seen"}
        >
          {worker ? (
            <>
              Seen <When at={worker.seenAt} />; it sends {WAYS[worker.transport] ?? worker.transport}.
            </>
          ) : (
            "Nothing takes mail from the queue. Start one: posthorn worker."
          )}
        </Part>
        {smtpUrl ? (
          <Part name="SMTP_URL" tone="bad" state="Mail waits">
            {smtpUrl.waiting === 1
              ? "A recipient waits"
              : `${smtpUrl.waiting.toLocaleString("en")} recipients wait`}{" "}
            for it, of the newest deferred mails. Last fault <When at={smtpUrl.lastFaultAt} />
            {smtpUrl.lastFault ? `: ${smtpUrl.lastFault}` : "."}
          </Part>
        ) : null}
        {relays.map((relay) => (
          <Part
            key={relay.id}
            name={`Relay ${relay.name}`}
            tone={relay.pausedUntil ? "bad" : "good"}
            state={relay.pausedUntil ? "Paused" : "Works"}
          >
            {relay.pausedUntil ? (
              <>
                Tried again <When at={relay.pausedUntil} />.{" "}
              </>
            ) : null}
            {relay.lastFault ? (
              <>
                Last fault
                {relay.lastFaultAt ? (
                  <>
                    {" "}
                    <When at={relay.lastFaultAt} />
                  </>
                ) : null}
                : {relay.lastFault}
              </>
            ) : relay.isShared ? (
              "Everybody's on this installation."
            ) : (
              "This team's own."
            )}
          </Part>
        ))}
        {trouble.map((webhook) => (
          <Part
            key={webhook.id}
            name={
              <Link
                href={hrefOf(`/console/webhooks/${webhook.id}`)}
                prefetch={false}
                className="rounded hover:text-accent"
              >
                <ShownUrl>{webhook.url}</ShownUrl>
              </Link>
            }
            tone={webhook.status === "disabled" ? "mute" : "warn"}
            state={webhook.status === "disabled" ? "Disabled" : "Failing"}
          >
            {webhook.failingSince ? (
              <>
                No success since <When at={webhook.failingSince} />, {webhook.failures.toLocaleString("en")}{" "}
                calls.
              </>
            ) : webhook.disabledReason === "gone" ? (
              "It answered 410: gone for good."
            ) : (
              "Switched off."
            )}
          </Part>
        ))}
        {webhooks.length > trouble.length ? (
          <Part name="Webhooks" tone="good" state="Work">
            {webhooks.length - trouble.length === 1
              ? "One endpoint takes what it is told."
              : `${webhooks.length - trouble.length} endpoints take what they are told.`}
          </Part>
        ) : null}
      </ul>
    </section>
  );
}

type PartProps = { name: ReactNode; tone: Tone; state: string; children: ReactNode };

function Part({ name, tone, state, children }: PartProps) {
  return (
    <li className="flex flex-col gap-1 px-5 py-3">
      <div className="flex items-center justify-between gap-3">
        <span className="min-w-0 font-medium">{name}</span>
        <Badge tone={tone}>{state}</Badge>
      </div>
      <p className="break-words text-soft text-xs leading-5">{children}</p>
    </li>
  );
}
