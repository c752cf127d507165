"use client";

import type { ReactNode } from "react";
import { RELAY_STATES } from "#server/shared/wire/relay-states";
import type { PartsView } from "#server/trpc/overview/overview";
import { Card } from "../_ui/page/card";
import { TextLink } from "../_ui/page/page-link";
import { BreakableUrl } from "../_ui/text/address";
import { Badge } from "../_ui/text/badge";
import { RELAY_TONES, type Tone } from "../_ui/text/statuses";
import { useNowMs, When } from "../_ui/text/when";

/** A worker sends a heartbeat every few seconds; a scheduled worker only once per run, minutes apart. */
const aliveMs = 600_000;

const TRANSPORTS: Record<string, ReactNode> = {
  relay: (
    <>
      <code>SMTP_URL</code> and relays
    </>
  ),
  direct: "direct to the recipients' mail servers",
  capture: "capture, which delivers no email",
  none: "relays only",
};

/** The health of the worker, the relays and the webhook endpoints. */
export function PartsCard({ parts }: { parts: PartsView }) {
  const nowMs = useNowMs();
  const { relays, smtpUrl, webhooks, worker } = parts;
  const isRunning = worker !== null && nowMs - Date.parse(worker.seenAt) < aliveMs;
  const failing = webhooks.filter(
    ({ status, failingSince }) => status === "disabled" || failingSince !== null,
  );
  return (
    <Card title="Health">
      <ul className="divide-y divide-line">
        <Part
          name="Worker"
          tone={isRunning ? "good" : "bad"}
          state={isRunning ? "Healthy" : worker ? "Not responding" : "Not started"}
        >
          {worker ? (
            <>
              Last heartbeat: <When at={worker.seenAt} />. Transport:{" "}
              {TRANSPORTS[worker.transport] ?? worker.transport}.
            </>
          ) : (
            <>
              No worker is processing the queue. Start one with <code>backstamp worker</code>.
            </>
          )}
        </Part>
        {smtpUrl ? (
          <Part name={<code>SMTP_URL</code>} tone="bad" state="Failing">
            {smtpUrl.waiting === 1
              ? "1 recipient is"
              : `${smtpUrl.waiting.toLocaleString("en")} recipients are`}{" "}
            waiting (recently deferred emails only). Last error <When at={smtpUrl.lastFaultAt} />
            {smtpUrl.lastFault ? `: ${smtpUrl.lastFault}` : "."}
          </Part>
        ) : null}
        {relays.map((relay) => (
          <Part
            key={relay.id}
            name={`Relay ${relay.name}`}
            tone={RELAY_TONES[relay.state]}
            state={RELAY_STATES[relay.state]}
          >
            {relay.pauseReason !== null ? `Paused by the operator: ${relay.pauseReason}. ` : null}
            {relay.pausedUntil && relay.pauseReason === null ? (
              <>
                Next test <When isDue at={relay.pausedUntil} />.{" "}
              </>
            ) : null}
            {relay.lastFault ? (
              <>
                Last error
                {relay.lastFaultAt ? (
                  <>
                    {" "}
                    <When at={relay.lastFaultAt} />
                  </>
                ) : null}
                : {relay.lastFault}
              </>
            ) : relay.isShared ? (
              "Shared by all teams."
            ) : (
              "Used only by this team."
            )}
          </Part>
        ))}
        {failing.map((webhook) => (
          <Part
            key={webhook.id}
            name={
              <TextLink to={`/console/webhooks/${webhook.id}`} className="rounded hover:text-accent">
                <BreakableUrl>{webhook.url}</BreakableUrl>
              </TextLink>
            }
            tone={webhook.status === "disabled" ? "mute" : "warn"}
            state={webhook.status === "disabled" ? "Disabled" : "Failing"}
          >
            {webhook.failingSince ? (
              <>
                First failure: <When at={webhook.failingSince} />. Failed attempts since then:{" "}
                {webhook.failures.toLocaleString("en")}.
              </>
            ) : webhook.disabledReason === "gone" ? (
              "The endpoint responded 410 Gone."
            ) : (
              "Disabled manually."
            )}
          </Part>
        ))}
        {webhooks.length > failing.length ? (
          <Part name="Webhooks" tone="good" state="Healthy">
            {webhooks.length - failing.length === 1
              ? "1 endpoint responding."
              : `${webhooks.length - failing.length} endpoints responding.`}
          </Part>
        ) : null}
      </ul>
    </Card>
  );
}

type PartProps = { name: ReactNode; tone: Tone; state: string; children: ReactNode };

const Part = ({ name, tone, state, children }: PartProps) => (
  <li className="flex flex-col gap-1 px-4 py-3">
    <div className="flex items-center justify-between gap-3">
      <span className="min-w-0 font-medium">{name}</span>
      <Badge tone={tone}>{state}</Badge>
    </div>
    <p className="break-words text-soft text-xs leading-5">{children}</p>
  </li>
);
