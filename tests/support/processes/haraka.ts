import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { InstalledServer } from "./installed-server";
import { startProcess } from "./processes";

const installMaxMs = 90_000;

/**
 * Installs Haraka from npm in a new folder of `parent` and starts it there. `files` are its configuration and
 * plugins; their names are relative. Its temporary folder is `temporary`, its queue `queue`. Rejects with the
 * reason if it cannot be installed.
 */
export async function startHaraka(parent: string, files: Record<string, string>): Promise<InstalledServer> {
  const folder = await mkdtemp(path.join(parent, "haraka-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    for (const name of ["config", "plugins", "queue", "temporary"]) await mkdir(path.join(folder, name));
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
    const args = ["install", "--no-save", "--no-audit", "--no-fund", "--omit=optional", "haraka"];
    await promisify(execFile)("npm", args, { cwd: folder, timeout: installMaxMs });
    const program = path.join(folder, "node_modules/haraka");
    // It does not start without this file.
    await cp(path.join(program, "config/connection.ini"), path.join(folder, "config/connection.ini"));
    const { version } = JSON.parse(await readFile(path.join(program, "package.json"), "utf8"));
    const started = await startProcess(process.execPath, [path.join(program, "bin/haraka"), "-c", folder], {
      env: { TMPDIR: path.join(folder, "temporary") },
    });
    return {
      pid: started.pid,
      version,
      hasExited: () => started.hasExited,
      output: () => started.output,
      locate: (file) => path.join(folder, file),
      async close() {
        await started.killTree();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
