import { expect, test } from "vitest";
import { readSettings } from "#server/platform/env/settings";
import { buildDeps } from "#server/startup/deps";

const URLS = ["http://127.0.0.1:4000/", "http://[::1]/", "http://localhost:4000/"];

test("webhooks to this machine are allowed only in dev, and there only without other networks", async () => {
  const required = {
    DATABASE_URL: "postgres://127.0.0.1:1/none",
    BACKSTAMP_URL: "https://mail.example.com",
    BACKSTAMP_SECRET: "x".repeat(40),
  };
  const faultsIn = async (mode: "dev" | "start" | "vercel", env: Record<string, string> = {}) => {
    const settings = readSettings({ ...required, ...env }, mode);
    const built = buildDeps({ ...settings, databaseUrl: required.DATABASE_URL });
    const faults = URLS.map((url) => built.deps.outside.checkUrl(url));
    await built.close();
    return faults;
  };
  expect(await faultsIn("dev")).toEqual([null, null, null]);
  const hint = expect.stringContaining("BACKSTAMP_EGRESS_ALLOW");
  expect(await faultsIn("start")).toEqual([hint, hint, hint]);
  expect(await faultsIn("vercel")).toEqual([hint, hint, hint]);
  // A name is resolved when it is called.
  expect(await faultsIn("dev", { BACKSTAMP_EGRESS_ALLOW: "10.0.0.0/8" })).toEqual([hint, hint, null]);
});
