import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { findPort } from "#server/boot/postgres/server";
import { API_HOST } from "../sdk/clients";
import { startBuilt } from "../support/program";

let stop = async (): Promise<void> => {};

/** Starts the built product on an empty data folder; the suites and the operator's command line find it by environment. */
export async function setup(): Promise<void> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "posthorn product "));
  const port = await findPort();
  const env = {
    POSTHORN_DATA_DIR: dataDir,
    PORT: String(port),
    HOST: "127.0.0.1",
    POSTHORN_API_HOST: API_HOST,
    POSTHORN_EGRESS_ALLOW: "127.0.0.0/8",
  };
  Object.assign(process.env, env);
  const launcher = await startBuilt({ env });
  stop = async () => {
    await launcher.stop("SIGTERM", 60_000);
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await launcher.waitFor(/Posthorn is running/, { timeoutMs: 120_000 });
  } catch (error) {
    await stop();
    throw error;
  }
  process.env.POSTHORN_TEST_URL = `http://127.0.0.1:${port}`;
}

/** Stops it as an operator does. */
export const teardown = (): Promise<void> => stop();
