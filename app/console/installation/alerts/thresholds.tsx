"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../_ui/form/button";
import { Section } from "../../_ui/page/card";
import { CopyButton } from "../../_ui/text/copy-button";
import { useTRPC } from "../../_ui/trpc";

type Limits = { bounce: string | null; complaint: string | null; recipientsMin: number };

/** The limits of the rates, with the settings that change them, and the operator's webhook. */
export function Thresholds({
  thresholds: { alerts, pauses },
  webhookHost,
}: {
  thresholds: { alerts: Limits; pauses: Limits };
  webhookHost: string | null;
}) {
  return (
    <Section title="Thresholds" note="Rates are those of the last 24 hours.">
      <ul className="flex flex-col gap-2 px-5 pb-5 leading-6">
        <li>
          An alert opens when a domain had at least {alerts.recipientsMin} recipients in the last 24 hours and
          more than {alerts.bounce} of them bounced or more than {alerts.complaint} complained.
        </li>
        <li>
          <Pauses {...pauses} />
        </li>
        {webhookHost === null ? (
          <li>
            Installation alerts can also be sent to a URL: set <code>BACKSTAMP_ALERT_WEBHOOK_URL</code>.
          </li>
        ) : (
          <li className="flex flex-wrap items-center gap-3">
            <span>Installation alerts are also sent to {webhookHost}.</span>
            <WebhookSecret />
          </li>
        )}
      </ul>
    </Section>
  );
}

function Pauses({ bounce, complaint, recipientsMin }: Limits) {
  const limits = [
    ...(bounce === null ? [] : [`more than ${bounce} of its recipients bounce`]),
    ...(complaint === null ? [] : [`more than ${complaint} complain`]),
  ];
  return limits.length === 0 ? (
    <>
      No team is paused automatically. To pause teams with high rates, set rates in percent, for example{" "}
      <code>BACKSTAMP_TEAM_PAUSE=bounces=10,complaints=0.5</code>.
    </>
  ) : (
    `A team with at least ${recipientsMin} recipients is paused when ${limits.join(" or ")}. You resume it on the page Queues.`
  );
}

function WebhookSecret() {
  const trpc = useTRPC();
  const [isShown, setIsShown] = useState(false);
  const { data } = useQuery(trpc.alerts.webhookSecret.queryOptions(undefined, { enabled: isShown }));
  if (!data) return <Button onClick={() => setIsShown(true)}>Show signing secret</Button>;
  return (
    <>
      <code className="min-w-0 break-all">{data.secret}</code>
      <CopyButton text={data.secret} label="Copy signing secret" />
    </>
  );
}
