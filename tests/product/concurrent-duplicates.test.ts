import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "#server/platform/log";
import { startEmbeddedPostgres } from "#server/startup/postgres/embedded";
import { findPort } from "#server/startup/postgres/server";
import { postDuplicates } from "../support/duplicate-posts";
import { runProgram, startBuilt } from "../support/processes/program";

type Closing = () => Promise<unknown>;
const closing: Closing[] = [];
const baseUrls: string[] = [];
let token = "";

beforeAll(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "backstamp-duplicates-"));
  closing.push(async () => rmSync(folder, { recursive: true, force: true }));
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, "database"), log: silentLog });
  closing.push(() => postgres.stop());
  const env = {
    DATABASE_URL: postgres.url,
    BACKSTAMP_SECRET: "a secret of forty characters for two webs",
    BACKSTAMP_ADMIN_PASSWORD: "correct horse battery",
  };
  for (const name of ["first", "second"]) {
    const port = await findPort();
    const url = `http://127.0.0.1:${port}`;
    const web = await startBuilt({
      env: { ...env, PORT: String(port), BACKSTAMP_URL: url, BACKSTAMP_DATA_DIR: path.join(folder, name) },
    });
    closing.push(() => web.stop("SIGTERM", 60_000));
    await web.waitFor(/Backstamp is running/, { timeoutMs: 120_000 });
    baseUrls.push(url);
  }
  const key = await runProgram(
    "server/startup/admin.ts",
    ["key", "create", "--name", "duplicates", "--scopes", "full_access", "--json"].concat(
      ["POST /api/emails", "GET /api/emails"].flatMap((tier) => ["--limit", `${tier}=1000000`]),
    ),
    { env: { ...env, BACKSTAMP_URL: baseUrls[0] ?? "" } },
  );
  token = JSON.parse(key.stdout).token;
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

test("50 equal concurrent posts with one idempotency key, over two web processes, create one email with one response: 100 rounds", async () => {
  expect(baseUrls).toHaveLength(2);
  expect(await postDuplicates({ baseUrls, token, rounds: 100 })).toEqual([]);
});
