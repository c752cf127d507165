import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbeddedPostgres } from "#server/boot/embedded";
import { findPort } from "#server/boot/postgres/server";
import { silentLog } from "#server/log";
import { runProgram, startBuilt } from "../support/program";
import { postTwins } from "../support/twins";

type Closing = () => Promise<unknown>;
const closing: Closing[] = [];
const baseUrls: string[] = [];
let token = "";

beforeAll(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "posthorn-twins-"));
  closing.push(async () => rmSync(folder, { recursive: true, force: true }));
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, "database"), log: silentLog });
  closing.push(() => postgres.stop());
  const env = {
    DATABASE_URL: postgres.url,
    POSTHORN_SECRET: "a secret of forty characters for two webs",
    POSTHORN_ADMIN_PASSWORD: "correct horse battery",
  };
  for (const name of ["first", "second"]) {
    const port = await findPort();
    const url = `http://127.0.0.1:${port}`;
    const web = await startBuilt({
      env: { ...env, PORT: String(port), POSTHORN_URL: url, POSTHORN_DATA_DIR: path.join(folder, name) },
    });
    closing.push(() => web.stop("SIGTERM", 60_000));
    await web.waitFor(/Posthorn is running/, { timeoutMs: 120_000 });
    baseUrls.push(url);
  }
  const key = await runProgram(
    "server/boot/admin.ts",
    ["key", "create", "--name", "twins", "--scopes", "full_access", "--json"].concat(
      ["POST /api/emails", "GET /api/emails"].flatMap((tier) => ["--limit", `${tier}=1000000`]),
    ),
    { env: { ...env, POSTHORN_URL: baseUrls[0] ?? "" } },
  );
  token = JSON.parse(key.stdout).token;
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

test("50 equal posts at once under one idempotency key, over two web processes, are one mail with one answer: 100 rounds", async () => {
  expect(baseUrls).toHaveLength(2);
  expect(await postTwins({ baseUrls, token, rounds: 100 })).toEqual([]);
});
