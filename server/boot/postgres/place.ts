import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Account, chooseAccount, reaches } from "./account";

/** Where one data directory's cluster lives, and who runs it (null: this process's own user). */
export type Place = { home: string; pgdata: string; account: Account | null };

/** Holds the folders of projects whose own data directory the database's user cannot reach. */
export const SYSTEM_HOME = "/var/lib/posthorn";

/** In the data directory: one line, the folder that holds its database when that is elsewhere. */
export const LOCATION_FILE = "postgres.location";

/**
 * The cluster's place: inside `dataDir`, unless root starts it in a folder that the database's user cannot reach (a
 * home of mode 0700). Then it is a folder of its own under SYSTEM_HOME, and a file in `dataDir` says which; once
 * written, that file decides, so the data is found again even if modes change or the project moves.
 */
export async function choosePlace(dataDir: string): Promise<Place> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const root = await realpath(dataDir);
  const elsewhere = (await readFile(path.join(root, LOCATION_FILE), "utf8").catch(() => ""))
    .split("\n")[0]
    ?.trim();
  if (elsewhere) {
    await mkdir(elsewhere, { recursive: true, mode: 0o711 });
    return placeIn(elsewhere);
  }
  const place = await placeIn(root);
  if (!place.account) return place;

  // Passing through must be allowed to the database's user; what must stay secret is 0600 file by file.
  if (!(await reaches(place.account, root))) await chmod(root, (await stat(root)).mode | 0o111);
  if (await reaches(place.account, root)) return place;
  if (await stat(place.pgdata).catch(() => null)) {
    throw new Error(
      `User ${place.account.uid}, who owns ${place.pgdata}, cannot reach it: a folder above it is closed to others.`,
    );
  }
  const home = path.join(SYSTEM_HOME, createHash("sha256").update(root).digest("hex").slice(0, 16));
  await mkdir(SYSTEM_HOME, { recursive: true, mode: 0o711 });
  await mkdir(home, { recursive: true, mode: 0o711 });
  await writeFile(
    path.join(root, LOCATION_FILE),
    `${home}\nThe embedded database runs as user ${place.account.uid}, who cannot reach this folder, so its data and programs are there.\n`,
  );
  return placeIn(home);
}

async function placeIn(home: string): Promise<Place> {
  const pgdata = path.join(home, "postgres");
  return { home, pgdata, account: await chooseAccount(pgdata) };
}
