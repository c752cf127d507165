import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Account, canReach, chooseAccount } from "./account";

/** The location of a data directory's cluster, and the account that runs it (null: this process's own user). */
export type ClusterLocation = { home: string; pgdata: string; account: Account | null };

/** Parent folder of clusters whose data directory the database's user cannot reach. */
export const SYSTEM_HOME = "/var/lib/backstamp";

/** File in the data directory. Its first line is the folder of the database, if that is elsewhere. */
export const LOCATION_FILE = "postgres.location";

/**
 * The cluster is inside `dataDir`, unless root starts it in a folder that the database's user cannot reach (such as a home
 * directory with mode 0700). Then it is in its own folder under SYSTEM_HOME, and a file in `dataDir` contains its path. This
 * file takes precedence later, so the data is found even if modes change or the project moves.
 */
export async function locateCluster(dataDir: string): Promise<ClusterLocation> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const root = await realpath(dataDir);
  const elsewhere = (await readFile(path.join(root, LOCATION_FILE), "utf8").catch(() => ""))
    .split("\n")[0]
    ?.trim();
  if (elsewhere) {
    await mkdir(elsewhere, { recursive: true, mode: 0o711 });
    return locationIn(elsewhere);
  }
  const place = await locationIn(root);
  if (!place.account) return place;

  // The database's user must be able to enter the folder. Secret files in it have mode 0600.
  if (!(await canReach(place.account, root))) await chmod(root, (await stat(root)).mode | 0o111);
  if (await canReach(place.account, root)) return place;
  if (await stat(place.pgdata).catch(() => null)) {
    throw new Error(
      `User ${place.account.uid} owns ${place.pgdata} but cannot reach it. Make all folders above it accessible to this user.`,
    );
  }
  const home = path.join(SYSTEM_HOME, createHash("sha256").update(root).digest("hex").slice(0, 16));
  await mkdir(SYSTEM_HOME, { recursive: true, mode: 0o711 });
  await mkdir(home, { recursive: true, mode: 0o711 });
  await writeFile(
    path.join(root, LOCATION_FILE),
    `${home}\nThe embedded database runs as user ${place.account.uid}, who cannot reach this folder. Its data and programs are in the folder above.\n`,
  );
  return locationIn(home);
}

async function locationIn(home: string): Promise<ClusterLocation> {
  const pgdata = path.join(home, "postgres");
  return { home, pgdata, account: await chooseAccount(pgdata) };
}
