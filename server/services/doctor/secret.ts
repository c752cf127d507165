import { SEALED_COLUMNS } from "#server/platform/secrets/sealed-columns";
import { canOpen } from "../secrets/stored-values";
import { type DoctorDeps, failure, notChecked, ok, type Result } from "./finding";

const sampleMax = 10;

/** Whether BACKSTAMP_SECRET decrypts what is stored: the oldest and newest texts of each kind. */
export async function checkSecret({ hot, vault, hasSecret }: DoctorDeps): Promise<Result> {
  if (!hasSecret)
    return failure(
      "BACKSTAMP_SECRET is not set here.",
      "Set the secret of the installation, as for the web process.",
    );
  const unreadable: string[] = [];
  let readable = 0;
  for (const { name, table, column, id, team, locationOf } of SEALED_COLUMNS) {
    const rows = await hot.unsafe<{ id: string; teamId: string; sealed: string }[]>(
      ["asc", "desc"]
        .map(
          (
            order,
          ) => `(select ${id}::text as id, ${team ?? "''"}::text as "teamId", ${column} as sealed from ${table}
            where ${column} is not null order by ${id} ${order} limit ${sampleMax})`,
        )
        .join(" union "),
    );
    const opened = rows.filter(({ sealed, ...row }) => canOpen(vault, sealed, locationOf(row))).length;
    readable += opened;
    if (opened < rows.length) unreadable.push(`${rows.length - opened} of ${rows.length} ${name}`);
  }
  if (unreadable.length > 0)
    return failure(
      `BACKSTAMP_SECRET does not decrypt what is stored: ${unreadable.join(", ")} of those tested.`,
      "Set the secret with which they were stored. If it is lost, enter these secrets again: a relay by relay set --url, a domain's keys by rotating them.",
    );
  if (readable === 0) return notChecked("Nothing encrypted is stored yet.");
  return ok(`BACKSTAMP_SECRET decrypts what is stored (${readable} tested).`);
}
