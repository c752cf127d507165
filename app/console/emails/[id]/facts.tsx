"use client";

import type { ReactNode } from "react";
import { formatTag } from "#server/shared/email-words";
import type { EmailView } from "#server/trpc/emails/views";
import { Card } from "../../_ui/page/card";
import { Properties } from "../../_ui/page/facts";
import { TextLink } from "../../_ui/page/page-link";
import { useCan } from "../../_ui/team";
import { Address } from "../../_ui/text/address";
import { CopyButton } from "../../_ui/text/copy-button";
import { Moment } from "../../_ui/text/when";

/** The key, template, tags and other properties of an email. */
export function Facts({ email }: { email: EmailView }) {
  const can = useCan();
  const link = (path: string, text: string) => <TextLink to={path}>{text}</TextLink>;
  const relays = [...new Set(email.recipients.flatMap(({ relay }) => relay ?? []))];
  const tracked = [email.tracksOpens ? "opens" : "", email.tracksClicks ? "clicks" : ""].filter(Boolean);
  const facts: [string, ReactNode][] = [
    ["Accepted", <Moment key="at" at={email.created_at} className="tabular-nums" />],
    [
      "Scheduled",
      email.scheduled_at && <Moment key="due" at={email.scheduled_at} className="tabular-nums" />,
    ],
    [
      "Key",
      email.api_key_id && link(`/console/keys/${email.api_key_id}`, email.api_key_name ?? "Deleted key"),
    ],
    [
      "API request",
      email.api_key_id && can("logs:read") && (
        <TextLink
          to="/console/activity/requests"
          parameters={{ email: email.id }}
          title="The request that sent this email. Requests are stored for 7 days."
        >
          View request
        </TextLink>
      ),
    ],
    [
      "Template",
      email.template_id &&
        (email.templateName === null
          ? "Deleted"
          : link(`/console/templates/${email.template_id}`, email.templateName)),
    ],
    [
      "Tags",
      email.tags.length > 0 && (
        <span className="flex flex-wrap gap-1.5">
          {email.tags.map(formatTag).map((tag) => (
            <TextLink
              key={tag}
              to="/console/emails"
              parameters={{ tag }}
              title="Emails with this tag"
              className="max-w-full truncate rounded-md bg-mute-tint px-2 py-0.5 font-mono text-xs hover:text-accent"
            >
              {tag}
            </TextLink>
          ))}
        </span>
      ),
    ],
    ["Sent again as", email.sentAgainAs && link(`/console/emails/${email.sentAgainAs}`, "New email")],
    ["Repeats", email.sentAgainOf && link(`/console/emails/${email.sentAgainOf}`, "Earlier email")],
    ["Priority", email.priority !== "normal" && email.priority],
    ["Relay", relays.length > 0 && relays.join(", ")],
    ["Tracking", tracked.length > 0 && tracked.join(" and ")],
    ["Warning", email.warnings.length > 0 && <span className="text-warn">{email.warnings.join(" ")}</span>],
    [
      "Unsubscribe",
      email.listUnsubscribe && `one link per recipient${email.listName ? `, list ${email.listName}` : ""}`,
    ],
    [
      "Idempotency key",
      email.idempotencyKey && (
        <span className="flex min-w-0 items-start gap-1">
          <code className="wrap-anywhere min-w-0 font-mono text-xs leading-8">{email.idempotencyKey}</code>
          <CopyButton text={email.idempotencyKey} label="Copy idempotency key" />
        </span>
      ),
    ],
    [
      "Message-ID",
      <code key="id" className="font-mono text-xs">
        <Address>{email.message_id}</Address>
      </code>,
    ],
  ];
  return (
    <Card title="Details">
      <Properties entries={facts} />
    </Card>
  );
}
