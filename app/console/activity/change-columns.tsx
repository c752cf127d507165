import { Bot, Cog, Terminal, UserRound } from "lucide-react";
import type { ChangeRow } from "#server/trpc/activity/views";
import type { Column } from "../_ui/list/data-table";
import { When } from "../_ui/text/when";
import { SubjectLink } from "./subject-link";

export const CHANGE_COLUMNS: readonly Column<ChangeRow>[] = [
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
    cell: ({ createdAt }) => <When at={createdAt} className="text-soft text-xs" />,
  },
];

const ICONS = { user: UserRound, key: Bot, operator: Terminal, system: Cog };
const FIXED_NAMES = { operator: "Command line", system: "Backstamp" };

/** The actor of a change, with the name at that time. The icon shows the type of actor. */
export function Actor({ change: { actor, actorName } }: { change: ChangeRow }) {
  const Icon = ICONS[actor];
  const name =
    actor === "operator" || actor === "system" ? FIXED_NAMES[actor] : (actorName ?? "Deleted user");
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
