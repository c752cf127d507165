import { createRequire } from "node:module";
import { startProcess, type TestProcess } from "../../support/processes/processes";
import { freePort } from "../../support/servers/free-port";

const next = createRequire(import.meta.url).resolve("next/dist/bin/next");

/** The variables that an operator sets, and those of Vercel. */
export type Environment = Record<string, string>;

export const cronSecret = "a-cron-secret-of-40-characters-0123456789";
export const admin = { email: "owner@example.com", password: "correct horse battery staple" };

/** One instance of the functions: Next's own server with the build's handlers, without the launcher. */
export type FunctionInstance = {
  url: string;
  process: TestProcess;
  /** Calls the cron route as a scheduler does. The status, or null if the instance died. */
  tick(secret?: string): Promise<number | null>;
};

/** Starts an instance of the build. `BACKSTAMP_URL` is its own address unless the environment has one. */
export async function startFunction(environment: Environment): Promise<FunctionInstance> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    VERCEL: "1",
    NODE_ENV: "production",
    NEXT_TELEMETRY_DISABLED: "1",
    BACKSTAMP_URL: url,
    ...environment,
  };
  const args = [next, "start", "-H", "127.0.0.1", "-p", String(port)];
  const started = await startProcess(process.execPath, args, { env });
  await started.waitFor(/Ready in/, { timeoutMs: 120_000 });
  return {
    url,
    process: started,
    tick: async (secret = cronSecret) => {
      const headers = { authorization: `Bearer ${secret}` };
      return fetch(`${url}/api/cron/tick`, { headers }).then(
        async (response) => {
          await response.text();
          return response.status;
        },
        () => null,
      );
    },
  };
}

/** The settings that every deployment needs. */
export const requiredEnvironment = (databaseUrl: string): Environment => ({
  DATABASE_URL: databaseUrl,
  BACKSTAMP_SECRET: "a secret of forty characters for functions",
  BACKSTAMP_ADMIN: `${admin.email}:${admin.password}`,
  CRON_SECRET: cronSecret,
});
