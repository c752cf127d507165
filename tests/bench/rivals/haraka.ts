import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { startProcess } from "../../support/processes/processes";
import { freePort } from "../../support/servers/free-port";
import { waitUntilListening } from "../../support/servers/listening";
import { connectionsOut, type Rival } from "./rival";

const installMaxMs = 90_000;

/** Sends everything to the receiving server. */
const plugin = (sinkPort: number) => `exports.hook_rcpt = (next, connection) => {
  connection.relaying = true;
  next(OK);
};
exports.hook_get_mx = (next) => next(OK, { exchange: "127.0.0.1", port: ${sinkPort} });
`;

/**
 * Starts Haraka from npm in a new folder of `parent`, with a process for each core. It writes its queue
 * without `fsync`, so what it accepted is lost with the machine.
 */
export async function startHaraka(parent: string, sinkPort: number): Promise<Rival> {
  const folder = await mkdtemp(path.join(parent, "haraka-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const port = await freePort();
  try {
    for (const name of ["config", "plugins", "queue"]) await mkdir(path.join(folder, name));
    const files = {
      "config/smtp.ini": `listen=127.0.0.1:${port}\nnodes=${cpus().length}\n`,
      "config/outbound.ini": `concurrency_max=${connectionsOut}\nenable_tls=false\n`,
      "config/log.ini": "level=ERROR\n",
      "config/plugins": "to_sink\n",
      "plugins/to_sink.js": plugin(sinkPort),
    };
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
    const args = ["install", "--no-save", "--no-audit", "--no-fund", "--omit=optional", "haraka"];
    await promisify(execFile)("npm", args, { cwd: folder, timeout: installMaxMs });
    const program = path.join(folder, "node_modules/haraka");
    // It does not start without this file.
    await cp(path.join(program, "config/connection.ini"), path.join(folder, "config/connection.ini"));
    const { version } = JSON.parse(await readFile(path.join(program, "package.json"), "utf8"));
    const started = await startProcess(process.execPath, [path.join(program, "bin/haraka"), "-c", folder]);
    await waitUntilListening(port, () => started.hasExited).catch(async (error) => {
      await started.killTree();
      throw new Error(`${error} ${started.output.trim().split("\n").at(-1)}`);
    });
    return {
      name: `Haraka ${version}, without \`fsync\``,
      port,
      pids: [started.pid],
      queue: [path.join(folder, "queue")],
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
