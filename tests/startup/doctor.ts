import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { installationSecret } from "../support/deps";
import { runCommand } from "../support/processes/command-line";
import type { World } from "../support/world";

export type Finding = {
  check: string;
  subject: string | null;
  status: string;
  message: string;
  advice: string | null;
};

/** Runs `backstamp doctor` for a world, with these settings. `of` are its findings of one check. */
export async function runDoctor({ databaseUrl, baseUrl }: World, env: Record<string, string> = {}) {
  const settings = {
    DATABASE_URL: databaseUrl,
    BACKSTAMP_SECRET: installationSecret,
    BACKSTAMP_URL: baseUrl,
    BACKSTAMP_DNS_SERVERS: "127.0.0.1:9",
    ...env,
  };
  const done = await runCommand(["doctor", "--json"], { env: settings });
  const report: { findings: Finding[] } = JSON.parse(done.stdout);
  const of = (check: string) => report.findings.filter((finding) => finding.check === check);
  return { ...done, settings, report, of };
}

export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "doctor-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
