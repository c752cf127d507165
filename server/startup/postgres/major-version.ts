import { readFile } from "node:fs/promises";
import path from "node:path";
import { cli, startCommandOf } from "#server/platform/env/cli";
import { OperatorError } from "../launcher/operator-error";
import { readMajorVersion } from "./binaries";
import type { ClusterLocation } from "./cluster-location";

/**
 * Throws an OperatorError if another major version of PostgreSQL created the cluster: its files cannot be
 * read. The message contains the commands that bring the data over. The cluster is not changed.
 */
export async function requireMajorVersion({ dataDir, pgdata }: ClusterLocation): Promise<void> {
  const text = await readFile(path.join(pgdata, "PG_VERSION"), "utf8").catch(() => null);
  if (text === null) return;
  const [stored, installed] = [Number.parseInt(text, 10), await readMajorVersion()];
  if (stored === installed) return;
  const [old, backup] = [`${dataDir}-postgres-${stored}`, `${dataDir}-postgres-${stored}.tar.gz.age`];
  throw new OperatorError(
    [
      `The embedded database in ${pgdata} was created by PostgreSQL ${stored}, and this release contains PostgreSQL ${installed}, which cannot read it. Nothing was changed.`,
      "Bring the data over with a backup:",
      `1. Stop Backstamp. With the release that you used before: ${cli} backup ${backup}`,
      `2. Keep the old data: mv ${dataDir} ${old}`,
      `3. With this release: ${cli} restore ${backup}`,
      `4. ${startCommandOf("start")}, then, if Backstamp was stopped before the backup: ${cli} release --all`,
    ].join("\n"),
  );
}
