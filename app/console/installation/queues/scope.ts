import type { PauseRow } from "#server/trpc/installation/queues";

/** The kinds of queues, with their labels. */
export const KINDS = [
  { value: "team", label: "A team" },
  { value: "domain", label: "A sender domain" },
  { value: "installation", label: "The whole installation" },
] as const;
export type Kind = (typeof KINDS)[number]["value"];

export type ScopeFields = { kind: Kind; team: string; domain: string };

/** The input of the procedures. */
export const scopeOf = ({ kind, team, domain }: ScopeFields) => ({
  team: kind === "installation" || team.trim() === "" ? null : team.trim(),
  domain: kind === "domain" ? domain.trim() : null,
});

/** "Whole installation", "Sales", "example.com, team Sales". */
export const formatQueue = ({ teamName, domain }: Pick<PauseRow, "teamName" | "domain">): string =>
  teamName === null
    ? "Whole installation"
    : domain === null
      ? `Team ${teamName}`
      : `${domain}, team ${teamName}`;
