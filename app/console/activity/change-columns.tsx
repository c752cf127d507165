import { Bot, Cog, Terminal, UserRound } from "lucide-react";
import type { AuditEntryView } from "#server/trpc/activity/activity";
import type { Column } from "../_ui/list/data-table";
import { When } from "../_ui/text/when";
import { SubjectLink } from "./subject-link";

export const CHANGE_COLUMNS: readonly Column<AuditEntryView>[] = [
  { id: "what", header: "Action", width: "w-72", cell: ({ words }) => words },
  {
    id: "subject",
    header: "Target",
    phone: "plain",
    isActive: true,
    cell: (change) => <SubjectLink change={change} />,
  },
  {
    id: "who",
    header: "Actor",
    width: "w-64",
    phone: "plain",
    cell: (change) => <Actor change={change} />,
  },
  {
    id: "when",
    header: "Time",
    width: "w-28",
    align: "right",
    phone: "corner",
    cell: ({ created_at }) => <When at={created_at} className="text-soft text-xs" />,
  },
];

const ICONS = { user: UserRound, key: Bot, operator: Terminal, system: Cog };
const FIXED_NAMES = { operator: "Command line", system: "Backstamp" };

/** The actor of a change, with the name at that time. The icon shows the type of actor. */
export function Actor({ change: { actor, actor_name } }: { change: AuditEntryView }) {
  const Icon = ICONS[actor];
  const name =
    actor === "operator" || actor === "system" ? FIXED_NAMES[actor] : (actor_name ?? "Deleted user");
  return (
    <span className="flex min-w-0 items-baseline gap-2 text-soft" title={name}>
      <Icon className="size-4 shrink-0 self-center" aria-hidden="true" />
      <span className="truncate">
        {actor === "key" ? <span className="sr-only">API key </span> : null}
        {name}
      </span>
    </span>
  );
}
