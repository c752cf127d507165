import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { findPort } from "#server/boot/postgres/server";
import { runProgram, startBuilt } from "../support/program";

export const ADMIN = { email: "admin@posthorn.test", password: "correct horse battery" } as const;

/** Posthorn as `npm start` runs it, with a database of its own that is gone at the end. */
export async function startPosthorn(env: Record<string, string> = {}) {
  const dataDir = mkdtempSync(path.join(tmpdir(), "posthorn-e2e-"));
  const port = await findPort();
  const url = `http://localhost:${port}`;
  const environment = {
    PORT: String(port),
    HOST: "127.0.0.1",
    POSTHORN_URL: url,
    POSTHORN_DATA_DIR: dataDir,
    POSTHORN_ADMIN_PASSWORD: ADMIN.password,
    ...env,
  };
  const launcher = await startBuilt({ env: environment });
  const stop = async () => {
    await launcher.stop("SIGTERM", 60_000);
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await launcher.waitFor(/Posthorn is running/, { timeoutMs: 120_000 });
  } catch (error) {
    await launcher.killTree();
    throw error;
  }
  const { firstKeyToken: token } = JSON.parse(readFileSync(path.join(dataDir, "secrets.json"), "utf8"));
  const api = async (method: string, target: string, body?: unknown, key = token) => {
    const response = await fetch(`${url}/api${target}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    url,
    stop,
    /** What it printed so far. */
    output: (): string => launcher.output,
    /** Calls the REST door, by default with the first key; throws what a refusal says. */
    api,
    /** Accepts a mail through the REST door, by default with the first key; answers its id. */
    send: async (mail: Record<string, unknown>, key?: string): Promise<string> => {
      const whole = { from: "Alder & Oak <hello@posthorn.test>", ...mail };
      const { id } = await api("POST", "/emails", whole, key);
      return id;
    },
    /** Runs the operator's command line; answers what it printed. */
    operate: async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runProgram("server/boot/admin.ts", args, { env: environment });
      if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
      return stdout;
    },
  };
}

export type Posthorn = Awaited<ReturnType<typeof startPosthorn>>;
