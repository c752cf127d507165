import type { Door, Reached } from "./doors";

const KINDS = ["REST", "console", "command line"] as const;

/** The table of services and doors, as it stands in the project for people to read. */
export function formatDoors(reached: readonly Reached[], gaps: Readonly<Record<string, string>>): string {
  const folders = new Map<string, Reached[]>();
  for (const each of reached) {
    const folder = each.service.split(/[/.]/)[0] ?? "";
    folders.set(folder, [...(folders.get(folder) ?? []), each]);
  }
  const tables = [...folders].map(([folder, rows]) => [
    `## ${folder}`,
    "",
    `| what is called | ${KINDS.join(" | ")} |`,
    "|---|---|---|---|",
    ...rows.map(({ service, doors }) => {
      const name = service.startsWith(`${folder}/`) ? service.slice(folder.length + 1) : service;
      return `| \`${name}\` | ${KINDS.map((kind) => cellOf(doors, kind)).join(" | ")} |`;
    }),
    "",
  ]);
  return [
    "# Services and doors",
    "",
    "Which door reaches which function of a service. Written from the source by `tests/doors.test.ts`, which fails where it",
    "is out of date, and where the API or the console can do with mail, templates, domains, keys, webhooks or suppressions",
    "what the other cannot without a reason below.",
    "",
    ...tables.flat(),
    "## Where one door reaches further, and why",
    "",
    "| what is called | why |",
    "|---|---|",
    ...Object.entries(gaps).map(([service, why]) => `| \`${service}\` | ${why} |`),
    "",
  ].join("\n");
}

const cellOf = (doors: readonly Door[], kind: Door["kind"]): string =>
  doors
    .filter((door) => door.kind === kind)
    .map(({ name }) => `\`${name}\``)
    .join("<br>");
