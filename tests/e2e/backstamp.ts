import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { BrowserContextOptions } from "playwright-core";
import { afterAll } from "vitest";
import { freshDatabase } from "../support/database/postgres";
import { runProgram, startBuilt } from "../support/processes/program";
import { freePort } from "../support/servers/free-port";
import { openBrowser, openProfile, signIn } from "./browser";

export const ADMIN = { email: "admin@backstamp.test", password: "correct horse battery" } as const;

/**
 * Starts the production build. It has a new database on the PostgreSQL of the test run, the one of
 * `DATABASE_URL`, or an embedded one in the folder `BACKSTAMP_DATA_DIR`, which `stop` removes.
 */
export async function startBackstamp(env: Record<string, string> = {}) {
  const namesDatabase = env.DATABASE_URL !== undefined || env.BACKSTAMP_DATA_DIR !== undefined;
  const database = namesDatabase ? null : await freshDatabase();
  const dataDir = env.BACKSTAMP_DATA_DIR ?? mkdtempSync(path.join(tmpdir(), "backstamp-e2e-"));
  const cleanUp = async () => {
    await database?.drop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const environment = {
    PORT: String(port),
    HOST: "127.0.0.1",
    BACKSTAMP_URL: url,
    BACKSTAMP_DATA_DIR: dataDir,
    BACKSTAMP_ADMIN: `${ADMIN.email}:${ADMIN.password}`,
    ...(database ? { DATABASE_URL: database.url } : {}),
    ...env,
  };
  const launcher = await startBuilt({ env: environment });
  const stop = () => launcher.stop("SIGTERM", 60_000).finally(cleanUp);
  try {
    await launcher.waitFor(/Backstamp is running/, { timeoutMs: 120_000 });
  } catch (error) {
    await launcher.killTree();
    await cleanUp();
    throw error;
  }
  const { firstKeyToken: token } = JSON.parse(readFileSync(path.join(dataDir, "secrets.json"), "utf8"));
  const api = async (method: string, target: string, body?: unknown, key = token) => {
    const request = {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...(method === "POST" && { "idempotency-key": randomUUID() }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    let response = await fetch(`${url}/api${target}`, request);
    // The database can be busy for a moment. A client then repeats its request after `Retry-After`.
    for (let again = 0; response.status === 503 && again < 20; again++) {
      await wait(Number(response.headers.get("retry-after")) * 1_000);
      response = await fetch(`${url}/api${target}`, request);
    }
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const operate = async (...args: string[]): Promise<string> => {
    const at = args.indexOf("--password") + 1;
    const [input] = at > 0 ? args.splice(at, 1) : [];
    const { code, stdout, stderr } = await runProgram("server/startup/admin.ts", args, {
      env: environment,
      ...(input === undefined ? {} : { input }),
    });
    if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  return {
    url,
    stop,
    /** The output so far. */
    output: (): string => launcher.output,
    /**
     * Calls the REST API, by default with the first key. Throws an error with the response if the status is
     * not 2xx.
     */
    api,
    /** Sends an email through the REST API, by default with the first key. Returns its id. */
    send: async (email: Record<string, unknown>, key?: string): Promise<string> => {
      const body = { from: "Alder & Oak <hello@backstamp.test>", ...email };
      const { id } = await api("POST", "/emails", body, key);
      return id;
    },
    /** Runs a command and returns its output. The value after `--password` is sent to its standard input. */
    operate,
    /** Creates a key, with the scope `full_access` unless the options say otherwise. Returns its token. */
    createKey: async (...options: string[]): Promise<string> => {
      const scopes = options.includes("--scopes") ? [] : ["--scopes", "full_access"];
      return JSON.parse(await operate("key", "create", "--name", "Shop", ...scopes, ...options, "--json"))
        .token;
    },
  };
}

export type Backstamp = Awaited<ReturnType<typeof startBackstamp>>;

/**
 * For the top of a test file: an installation, and a browser profile with a page. They are closed after the
 * tests of the file.
 */
export async function openSite(
  env: Record<string, string> = {},
  { hasScrollbars = false, ...options }: BrowserContextOptions & { hasScrollbars?: boolean } = {},
) {
  const browser = await openBrowser({ hasScrollbars });
  afterAll(() => browser.close());
  const backstamp = await startBackstamp(env);
  afterAll(() => backstamp.stop());
  const profile = await openProfile(browser, options);
  return { backstamp, browser, profile, page: await profile.context.newPage() };
}

/** The same with the operator signed in. */
export async function openSignedIn(...given: Parameters<typeof openSite>) {
  const site = await openSite(...given);
  await signIn(site.page, site.backstamp.url, ADMIN.email, ADMIN.password);
  return site;
}
