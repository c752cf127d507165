import type { EntryPoint, Reached } from "./read";

const KINDS = ["REST", "console", "command line"] as const;

/** The table of services and entry points, as a Markdown document. */
export function formatEntryPoints(
  reached: readonly Reached[],
  gaps: Readonly<Record<string, string>>,
): string {
  const folders = new Map<string, Reached[]>();
  for (const each of reached) {
    const folder = each.service.split(/[/.]/)[0] ?? "";
    folders.set(folder, [...(folders.get(folder) ?? []), each]);
  }
  const tables = [...folders].map(([folder, rows]) => [
    `## ${folder}`,
    "",
    `| function | ${KINDS.join(" | ")} |`,
    "|---|---|---|---|",
    ...rows.map(({ service, entryPoints }) => {
      const name = service.startsWith(`${folder}/`) ? service.slice(folder.length + 1) : service;
      return `| \`${name}\` | ${KINDS.map((kind) => cellOf(entryPoints, kind)).join(" | ")} |`;
    }),
    "",
  ]);
  return [
    "# Services and entry points",
    "",
    "Which entry point calls which function of a service. Generated from the source by `tests/entry-points.test.ts`. The test fails",
    "if this file is out of date, or if only the API or only the console can do something with emails, templates, domains, keys,",
    "webhooks or suppressions without a reason below.",
    "",
    ...tables.flat(),
    "## Functions of one entry point only",
    "",
    "| function | reason |",
    "|---|---|",
    ...Object.entries(gaps).map(([service, why]) => `| \`${service}\` | ${why} |`),
    "",
  ].join("\n");
}

const cellOf = (entryPoints: readonly EntryPoint[], kind: EntryPoint["kind"]): string =>
  entryPoints
    .filter((entryPoint) => entryPoint.kind === kind)
    .map(({ name }) => `\`${name}\``)
    .join("<br>");
