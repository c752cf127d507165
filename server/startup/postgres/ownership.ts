import { createHash, randomUUID } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { startCommandOf } from "#server/platform/env/cli";
import { FolderIdentity, identifyFolder, isSameFolder } from "../launcher/folder-identity";
import { acquireLock, type DataLock, findHolder } from "../launcher/lock";
import { OperatorError } from "../launcher/operator-error";
import { replaceForOwner } from "../launcher/write-for-owner";
import { type ClusterLocation, INSTALLATION_FILE, LOCATION_FILE, SYSTEM_HOME } from "./cluster-location";
import { findServer, readPostmaster } from "./postmaster";

/** The installation and the data directory that a cluster belongs to. Stored in the cluster. */
const Owner = z.object({ installationId: z.string(), dataDir: FolderIdentity });
type Owner = z.infer<typeof Owner>;

const OWNER_FILE = "backstamp.owner";

const start = startCommandOf("start");
const ADOPT = start.startsWith("npm")
  ? "start once with --adopt: npm start -- --adopt (or npm run dev -- --adopt)"
  : `start once with --adopt: ${start} --adopt`;

/**
 * Checks that the cluster belongs to this data directory, not to the original of which it is a copy. A
 * cluster inside the data directory is copied with it. Throws an OperatorError that says what to do. With
 * `shouldAdopt` the data directory may use the cluster nevertheless; a running owner is still rejected.
 */
export async function requireOwnership(place: ClusterLocation, shouldAdopt: boolean): Promise<void> {
  if (!(await stat(place.pgdata).catch(() => null))) return;
  const owner = await readOwner(place.pgdata);
  const reason = await findReason(place, owner);
  if (reason === null) return;
  if (!shouldAdopt) throw new OperatorError(reason);
  // Release 0.2.0 locks only its data directory, also after this release recorded it as the owner.
  const isElsewhere = owner && !(await isInside(place)) && !(await isSameFolderAs(owner, place));
  const holder = isElsewhere ? await findHolder(owner.dataDir.path) : null;
  if (holder !== null)
    throw new OperatorError(
      `The database in ${place.pgdata} belongs to ${owner?.dataDir.path}, which is in use by process ${holder.pid} ` +
        `(${holder.purpose}). To adopt the database, stop it first: kill ${holder.pid}`,
    );
  // Without a record of the owner, only the server shows that it runs.
  const server = owner ? null : await findServer(place.pgdata);
  if (server !== null)
    throw new OperatorError(
      `PostgreSQL still runs with the database in ${place.pgdata}: process ${server}. Stop the Backstamp that uses it. ` +
        `If none is running: kill ${server}`,
    );
}

/**
 * Locks a cluster outside the data directory, and records the data directory as its owner. The lock is null
 * if the cluster is inside: then the lock of the data directory protects both. Throws an OperatorError if
 * another process has the lock.
 */
export async function claimCluster(place: ClusterLocation): Promise<DataLock | null> {
  const lock = (await isInside(place)) ? null : await requireLock(place);
  const before = await readOwner(place.pgdata);
  const owner: Owner = {
    installationId: place.installationId ?? before?.installationId ?? randomUUID(),
    dataDir: await identifyFolder(place.dataDir),
  };
  await writeText(path.join(place.pgdata, OWNER_FILE), `${JSON.stringify(owner)}\n`);
  if (place.home !== place.dataDir)
    await writeText(
      path.join(place.dataDir, LOCATION_FILE),
      `${place.home}\nThe database's user cannot reach this folder. The database and its programs are in the folder above. Copy both folders together.\n`,
    );
  await writeText(path.join(place.dataDir, INSTALLATION_FILE), `${owner.installationId}\n`);
  return lock;
}

/** Why the data directory must not use the cluster, and what to do. Null if it may. */
async function findReason(place: ClusterLocation, owner: Owner | null): Promise<string | null> {
  const { dataDir, home, pgdata, installationId } = place;
  const isOurs = owner && (await isSameFolderAs(owner, place));
  if (owner && installationId && installationId !== owner.installationId)
    return (
      `The database in ${pgdata} belongs to another installation (${owner.installationId}) than the data directory ` +
      `${dataDir} (${installationId}). Restore both from the same backup. To use this database with the secrets of this ` +
      `data directory, ${ADOPT}`
    );
  if (await isInside(place)) {
    const wasRunning = owner && !isOurs && (await readPostmaster(pgdata));
    return wasRunning
      ? `The data directory ${dataDir} was copied from ${owner.dataDir.path} while the database was running, so the copy ` +
          "can be damaged. Stop the original and copy it again. To use this copy, for example of a file system snapshot, " +
          ADOPT
      : null;
  }
  if (isOurs || (!owner && home === homeInRelease020(dataDir))) return null;
  // Release 0.2.0 records no owner, so the original of a link is unknown.
  if (!owner && home === dataDir)
    return (
      `${path.join(dataDir, "postgres")} is a link, and the database in ${await realpath(pgdata)} has no record of its data ` +
      `directory. If ${dataDir} is a copy, use the original. If it is not a copy, ${ADOPT}`
    );
  const former = owner && (await isInstalled(owner)) ? owner.dataDir.path : null;
  return former !== null
    ? `The data directory ${dataDir} is a copy of ${former}, and the database in ${home} belongs to the original. Two ` +
        `installations cannot use one database.\nTo use the original, set BACKSTAMP_DATA_DIR=${former}\n` +
        `To use the database from ${dataDir} from now on, stop the original, then ${ADOPT}\n` +
        `To start with an empty database, delete ${LOCATION_FILE} and ${INSTALLATION_FILE} in ${dataDir}.`
    : `The database in ${home} belongs to another data directory${owner ? ` (${owner.dataDir.path})` : ""}. ` +
        `If you moved that directory to ${dataDir}, ${ADOPT}\n` +
        `If ${dataDir} is a copy, use the original, or delete ${LOCATION_FILE} and ${INSTALLATION_FILE} in the copy to ` +
        "start with an empty database.";
}

const isSameFolderAs = async (owner: Owner, { dataDir }: ClusterLocation): Promise<boolean> =>
  isSameFolder(owner.dataDir, await identifyFolder(dataDir));

/** Whether the owner's data directory still exists. */
async function isInstalled({ installationId, dataDir }: Owner): Promise<boolean> {
  const text = await readFile(path.join(dataDir.path, INSTALLATION_FILE), "utf8").catch(() => "");
  return text.trim() === installationId;
}

/** A link `postgres` to a folder elsewhere is copied as a link, so such a cluster is not inside. */
async function isInside({ dataDir, pgdata }: ClusterLocation): Promise<boolean> {
  return (await realpath(pgdata)).startsWith(`${dataDir}${path.sep}`);
}

/**
 * Release 0.2.0 records no owner, and names a folder under SYSTEM_HOME after the path of the data directory.
 */
const homeInRelease020 = (dataDir: string): string =>
  path.join(SYSTEM_HOME, createHash("sha256").update(dataDir).digest("hex").slice(0, 16));

async function requireLock({ dataDir, pgdata }: ClusterLocation): Promise<DataLock> {
  const taken = await acquireLock(await realpath(pgdata), `database of ${dataDir}`);
  if ("lock" in taken) return taken.lock;
  const { pid, purpose } = taken.holder;
  throw new OperatorError(
    `The database in ${pgdata} is in use by process ${pid} (${purpose}). Use that Backstamp, or stop it first: kill ${pid}`,
  );
}

async function readOwner(pgdata: string): Promise<Owner | null> {
  const file = path.join(pgdata, OWNER_FILE);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  try {
    return Owner.parse(JSON.parse(text));
  } catch (cause) {
    throw new OperatorError(`${file} is not valid. Restore it from a backup, or delete it.`, { cause });
  }
}

/** Does nothing if the file has this text. */
async function writeText(file: string, text: string): Promise<void> {
  if ((await readFile(file, "utf8").catch(() => null)) !== text) await replaceForOwner(file, text);
}
