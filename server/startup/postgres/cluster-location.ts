import { randomUUID } from "node:crypto";
import { chmod, mkdir, readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { OperatorError } from "../launcher/operator-error";
import { type Account, canReach, chooseAccount } from "./account";

/**
 * The location of a data directory's cluster, and the account that runs it (null: this process's own user).
 */
export type ClusterLocation = {
  /** The data directory, without links. */
  dataDir: string;
  /** The folder of the cluster, its password and its log. */
  home: string;
  pgdata: string;
  account: Account | null;
  /** The id in the data directory. Null before the first start. */
  installationId: string | null;
};

/** Parent folder of clusters whose data directory the database's user cannot reach. */
export const SYSTEM_HOME = "/var/lib/backstamp";

/** File in the data directory. Its first line is the folder of the database, if that is elsewhere. */
export const LOCATION_FILE = "postgres.location";

/** File in the data directory with the id of the installation. It is written once the cluster exists. */
export const INSTALLATION_FILE = "installation.id";

/**
 * The cluster is inside `dataDir`, unless root starts it in a folder that the database's user cannot reach
 * (such as a home directory with mode 0700). Then it is in its own folder under SYSTEM_HOME, and a file in
 * `dataDir` contains its path. This file takes precedence later, so the data is found even if modes change or
 * the project moves.
 *
 * Throws an OperatorError if the data directory had a cluster that is not on this machine.
 */
export async function locateCluster(dataDir: string): Promise<ClusterLocation> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const root = await realpath(dataDir);
  const installationId = await readInstallationId(root);
  const locationIn = async (home: string): Promise<ClusterLocation> => {
    const pgdata = path.join(home, "postgres");
    return { dataDir: root, home, pgdata, account: await chooseAccount(pgdata), installationId };
  };

  const elsewhere = await readFirstLine(path.join(root, LOCATION_FILE));
  if (elsewhere)
    return (await hasCluster(elsewhere)) ? locationIn(elsewhere) : explainMissing(root, elsewhere);
  if (installationId && !(await hasCluster(root))) {
    const home = path.join(SYSTEM_HOME, installationId);
    return (await hasCluster(home)) ? locationIn(home) : explainMissing(root, root);
  }

  const place = await locationIn(root);
  if (!place.account) return place;
  // The database's user must be able to enter the folder. Secret files in it have mode 0600.
  if (!(await canReach(place.account, root))) await chmod(root, (await stat(root)).mode | 0o111);
  if (await canReach(place.account, root)) return place;
  if (await hasCluster(root)) {
    throw new OperatorError(
      `User ${place.account.uid} owns ${place.pgdata} but cannot reach it. Make all folders above it accessible to this user.`,
    );
  }
  const id = randomUUID();
  const home = path.join(SYSTEM_HOME, id);
  await mkdir(SYSTEM_HOME, { recursive: true, mode: 0o711 });
  await mkdir(home, { mode: 0o711 });
  return { ...(await locationIn(home)), installationId: id };
}

/** The folder of a data directory's cluster, which may be elsewhere. */
export const findClusterHome = async (dataDir: string): Promise<string> =>
  (await readFirstLine(path.join(dataDir, LOCATION_FILE))) ?? dataDir;

/**
 * The id of the installation with this data directory; null before its embedded database was first started.
 */
export const readInstallationId = (dataDir: string): Promise<string | null> =>
  readFirstLine(path.join(dataDir, INSTALLATION_FILE));

/** Whether an embedded database was ever started with this data directory. Changes nothing. */
export const hasEmbeddedDatabase = async (dataDir: string): Promise<boolean> =>
  (await readInstallationId(dataDir)) !== null || hasCluster(await findClusterHome(dataDir));

const hasCluster = (home: string): Promise<boolean> =>
  stat(path.join(home, "postgres")).then(
    () => true,
    () => false,
  );

async function readFirstLine(file: string): Promise<string | null> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return text.split("\n")[0]?.trim() || null;
}

function explainMissing(dataDir: string, home: string): never {
  const files = [LOCATION_FILE, INSTALLATION_FILE].map((name) => path.join(dataDir, name));
  const reason =
    home === dataDir
      ? "The copy or backup of this data directory is incomplete. Copy this folder too, while Backstamp is stopped there."
      : `The database is not inside the data directory, so a copy of the directory does not contain it. Copy ${home} from ` +
        "the original machine too, to the same path and while Backstamp is stopped there.";
  throw new OperatorError(
    `The database of the data directory ${dataDir} is missing: ${path.join(home, "postgres")} does not exist on this ` +
      `machine. No email, key or user was deleted.\n${reason}\n` +
      `To start with an empty database instead, delete ${files.join(" and ")}.`,
  );
}
