import { migrateDatabase } from "#db/migrate";
import { readSettings } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import { createKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { buildDeps } from "#server/startup/deps";
import { openHttpServer } from "#server/startup/http/node";
import { createRestApi } from "#server/startup/http/rest-endpoint";

declare global {
  var recordCall: ((index: number) => void) | undefined;
}

/**
 * The program that is traced: the API of the product over HTTP, without the console and without delivery,
 * which would add calls of their own. Prints the positions of the called functions as JSON, in the order of
 * their first call.
 */
const settings = readSettings({ ...process.env, SMTP_URL: "capture:" }, "dev");
const databaseUrl = process.env.DATABASE_URL ?? "";
await migrateDatabase(databaseUrl);
const built = buildDeps({ ...settings, databaseUrl, secret: "x".repeat(32) }, { log: silentLog });
const calls = new Map<number, number>();
const rest = built.forRest({ tick: async () => {} });
const server = await openHttpServer({
  host: "127.0.0.1",
  port: 0,
  apiHost: null,
  upgrades: false,
  log: silentLog,
  pages: { request: async () => {}, upgrade: async () => {} },
  rest: Promise.resolve(
    createRestApi({
      ...rest,
      async accept(submission) {
        const isWritten = await rest.accept(submission);
        globalThis.recordCall = undefined;
        return isWritten;
      },
    }),
  ),
});

const team = await createTeam(rest, { name: "Traced" });
const ctx = { ...rest, teamId: team.id, actor: { kind: "operator" as const }, requestId: "trace" };
const { token } = await createKey(ctx, {
  name: "Traced",
  scopes: ["emails:send"],
  domains: "all",
  expiresAt: null,
  limits: {},
});

async function sendEmail(): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/emails`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      from: "Backstamp <hello@backstamp.test>",
      to: "delivered@backstamp.test",
      subject: "First email",
      html: "<p>It works.</p>",
    }),
  });
  if (response.status !== 200)
    throw new Error(`POST /api/emails: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

// The first request also opens connections and prepares statements.
await sendEmail();
globalThis.recordCall = (index) => calls.set(index, (calls.get(index) ?? 0) + 1);
await sendEmail();
globalThis.recordCall = undefined;
process.stdout.write(JSON.stringify([...calls]));
await server.close(0);
await built.close();
process.exit(0);
