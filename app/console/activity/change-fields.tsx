"use client";

import { Cog, KeyRound, Terminal, UserRound } from "lucide-react";
import type { AuditEntryView } from "#server/trpc/activity/activity";
import { TextLink } from "../_ui/page/page-link";

/** The page of each type of target. */
const PAGES: Record<string, (id: string) => string> = {
  key: (id) => `/console/keys/${id}`,
  domain: (id) => `/console/domains/${id}`,
  template: (id) => `/console/templates/${id}`,
  webhook: (id) => `/console/webhooks/${id}`,
  email: (id) => `/console/emails/${id}`,
  member: () => "/console/settings/members",
  team: () => "/console/settings/team",
};

const nameStyle = "wrap-anywhere";
/** A subtle underline: a column of prominent links would distract from the rest of the table. */
const quietLinkStyle =
  "rounded underline decoration-line underline-offset-4 hover:text-accent hover:decoration-accent";

const COUNTED: Record<string, [one: string, several: string]> = {
  mails: ["email", "emails"],
  recipients: ["recipient", "recipients"],
};
const COUNTED_BY_NOUN: Record<string, [one: string, several: string]> = {
  suppression: ["address", "addresses"],
  webhook: ["event", "events"],
};

/** How much a change of many objects changed: "105 emails". Null for another change. */
function formatBatch({ noun, detail }: AuditEntryView): string | null {
  const field = ["mails", "count", "recipients"].find((name) => typeof detail[name] === "number");
  if (field === undefined) return null;
  const [one, several] = (field === "count" ? COUNTED_BY_NOUN[noun] : COUNTED[field]) ?? [
    "object",
    "objects",
  ];
  const count = Number(detail[field]);
  return `${count.toLocaleString("en")} ${count === 1 ? one : several}`;
}

/** The target of a change, with its name at that time. It is a link while the target exists. */
export function SubjectLink({ change }: { change: AuditEntryView }) {
  const { noun, subjectId: id, subjectName, isPresent } = change;
  const name = subjectName || id;
  if (!name) return <span className="text-soft">{formatBatch(change) ?? "–"}</span>;
  const pageOf = isPresent && id ? PAGES[noun] : undefined;
  if (!pageOf || !id)
    return (
      <span title={name} className={nameStyle}>
        {name}
      </span>
    );
  return (
    <TextLink to={pageOf(id)} title={name} className={`${nameStyle} ${quietLinkStyle}`}>
      {name}
    </TextLink>
  );
}

const ICONS = { user: UserRound, key: KeyRound, operator: Terminal, system: Cog };
const FIXED_NAMES = { operator: "CLI", system: "Backstamp" };

/** The actor of a change, with the name at that time. The icon shows the type of actor. */
export function Actor({ change: { actor, actorName } }: { change: AuditEntryView }) {
  const Icon = ICONS[actor];
  const name =
    actor === "operator" || actor === "system" ? FIXED_NAMES[actor] : (actorName ?? "Deleted user");
  return (
    <span className="flex min-w-0 items-baseline gap-2 text-soft" title={name}>
      <Icon className="size-4 shrink-0 self-center" />
      <span className="wrap-anywhere min-w-0">
        {actor === "key" ? "API key " : ""}
        {name}
      </span>
    </span>
  );
}
