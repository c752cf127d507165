import type { Place } from "#server/platform/secrets/vault";
import { dkimKeyPlace } from "../domains/dkim/keys";
import { type DoctorDeps, failure, notChecked, ok, type Results } from "./finding";

const sampleMax = 10;

/** Every column with encrypted text: how its rows are named in the report, and the place that each text is sealed for. */
const SEALED = [
  { what: "relay URLs", from: "relays", column: "url", id: "id", team: "''" },
  { what: "callback secrets", from: "relays", column: "callback_secret", id: "id", team: "''" },
  { what: "DKIM keys", from: "dkim_keys", column: "private_key", id: "id", team: "team_id" },
  { what: "webhook secrets", from: "webhooks", column: "secret", id: "id", team: "team_id" },
  { what: "authenticator apps", from: "totp_factors", column: "secret", id: "user_id", team: "user_id" },
  { what: "system emails", from: "system_mails", column: "details", id: "id", team: "''" },
] as const;

const placeOf = (from: string, column: string, row: { id: string; teamId: string }): Place =>
  from === "dkim_keys" ? dkimKeyPlace(row.teamId, row.id) : { table: from, column, ...row };

/** Whether BACKSTAMP_SECRET decrypts what is stored: the oldest and newest texts of each kind. */
export async function checkSecret({ hot, vault, hasSecret }: DoctorDeps): Promise<Results> {
  if (!hasSecret)
    return [
      failure(
        "BACKSTAMP_SECRET is not set here.",
        "Set the secret of the installation, as for the web process.",
      ),
    ];
  const unreadable: string[] = [];
  let readable = 0;
  for (const { what, from, column, id, team } of SEALED) {
    const rows = await hot.unsafe<{ id: string; teamId: string; sealed: string }[]>(
      ["asc", "desc"]
        .map(
          (order) => `(select ${id}::text as id, ${team}::text as "teamId", ${column} as sealed from ${from}
            where ${column} is not null order by ${id} ${order} limit ${sampleMax})`,
        )
        .join(" union "),
    );
    let wrong = 0;
    for (const { sealed, ...row } of rows) {
      try {
        vault.open(sealed, placeOf(from, column, row));
        readable += 1;
      } catch {
        wrong += 1;
      }
    }
    if (wrong > 0) unreadable.push(`${wrong} of ${rows.length} ${what}`);
  }
  if (unreadable.length > 0)
    return [
      failure(
        `BACKSTAMP_SECRET does not decrypt what is stored: ${unreadable.join(", ")} of those tested.`,
        "Set the secret with which they were stored. If it is lost, enter these secrets again: a relay by relay set --url, a domain's keys by rotating them.",
      ),
    ];
  if (readable === 0) return [notChecked("Nothing encrypted is stored yet.")];
  return [ok(`BACKSTAMP_SECRET decrypts what is stored (${readable} tested).`)];
}
