import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { API_HOST } from "../sdk/clients";
import { startBuilt } from "../support/processes/program";
import { freePort } from "../support/servers/free-port";

let stop = async (): Promise<void> => {};

/**
 * Starts the production build on an empty data folder. The tests and the operator's CLI find it through the
 * environment.
 */
export async function setup(): Promise<void> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "backstamp product "));
  const port = await freePort();
  const env = {
    BACKSTAMP_DATA_DIR: dataDir,
    PORT: String(port),
    HOST: "127.0.0.1",
    BACKSTAMP_API_HOST: API_HOST,
    BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
  };
  Object.assign(process.env, env);
  const launcher = await startBuilt({ env });
  stop = async () => {
    await launcher.stop("SIGTERM", 60_000);
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await launcher.waitFor(/Backstamp is running/, { timeoutMs: 120_000 });
  } catch (error) {
    await stop();
    throw error;
  }
  process.env.BACKSTAMP_TEST_URL = `http://127.0.0.1:${port}`;
}

/** Stops it like an operator. */
export const teardown = (): Promise<void> => stop();
