import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { projectRoot, runToExit, startProcess } from "../support/processes/processes";
import { compiledOf } from "../support/processes/program";

/** The latest release before this commit, as sources in a folder. */
export type Release = {
  version: string;
  root: string;
  /** Creates the release's schema in an empty database, and a team in it. */
  prepare(
    databaseUrl: string,
    domain: string,
    endpoint: string,
  ): Promise<{ token: string; webhookId: string }>;
  /** Runs `backstamp migrate` of the release. Rejects if it does not accept the database. */
  migrate(databaseUrl: string): Promise<string>;
};

/** Below the project, so that the release finds the installed packages. */
const folder = path.join(projectRoot, "tests/.artifacts/releases");
/** Without test files, which the test runner would find. */
const needed = [
  "server",
  "db",
  "tests/chaos",
  "tests/support",
  "package.json",
  "tsconfig.json",
  ":!*.test.ts",
];
const PREPARE = `
import { migrateDatabase } from "#db/migrate";
import { openTeam } from "./open-team";

const [url = "", domain = "", endpoint = ""] = process.argv.slice(2);
await migrateDatabase(url);
process.stdout.write(JSON.stringify(await openTeam(url, domain, endpoint)));
`;

const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: projectRoot, stdio: ["ignore", "pipe", "ignore"] })
    .toString()
    .trim();

function findRelease(): { commit: string; version: string } | null {
  try {
    const line = git("log", "-1", "--format=%H %s", "--grep=^chore: release [0-9]", "HEAD~1");
    const [, commit = "", version = ""] = /^(\w+) chore: release (\S+)$/.exec(line) ?? [];
    return commit === "" ? null : { commit, version };
  } catch {
    return null;
  }
}

/** Why the latest release cannot be run, or null. */
export const releaseMissing = (): string | null =>
  findRelease() === null
    ? "skipped: the commit of the latest release is not in this clone; fetch the whole history (git fetch --unshallow)"
    : null;

/** The settings of a process under the names that 0.2.0 reads. */
export function formerNames(env: Record<string, string>): Record<string, string> {
  const { SMTP_URL = "", BACKSTAMP_TIME_LIMITS = "", ...others } = env;
  const [, mxPort] = /^direct:(\d+)$/.exec(SMTP_URL) ?? [];
  const [limits = "", lease = ""] = BACKSTAMP_TIME_LIMITS.split(",lease=");
  return {
    ...others,
    SMTP_URL: mxPort === undefined ? SMTP_URL : "direct:",
    BACKSTAMP_MX_PORT: mxPort ?? "",
    BACKSTAMP_SMTP_TIME_LIMITS: limits,
    BACKSTAMP_LEASE_SECONDS: lease,
  };
}

/** Extracts the sources of the latest release from the history. */
export async function openRelease(): Promise<Release> {
  const found = findRelease();
  if (found === null) throw new Error(releaseMissing() ?? "");
  const root = path.join(folder, found.commit);
  if (!existsSync(root)) await extract(found.commit, root);
  const run = async (file: string, args: string[], env: Record<string, string>): Promise<string> => {
    const program = await compiledOf(file, root);
    const { code, stdout, stderr } = await runToExit(
      await startProcess(process.execPath, [program, ...args], { env }),
    );
    if (code !== 0) throw new Error(`${file} of release ${found.version} ended with ${code}: ${stderr}`);
    return stdout;
  };
  return {
    version: found.version,
    root,
    prepare: async (...args) => JSON.parse(await run("tests/chaos/prepare-release.ts", args, {})),
    migrate: (databaseUrl) => run("server/startup/admin.ts", ["migrate"], { DATABASE_URL: databaseUrl }),
  };
}

async function extract(commit: string, root: string): Promise<void> {
  const fresh = `${root}.${process.pid}`;
  await mkdir(fresh, { recursive: true });
  const archive = `${fresh}.tar`;
  git("archive", `--output=${archive}`, commit, ...needed);
  execFileSync("tar", ["-xf", archive, "-C", fresh]);
  await writeFile(path.join(fresh, "tests/chaos/prepare-release.ts"), PREPARE);
  await rm(archive);
  await rename(fresh, root);
}
