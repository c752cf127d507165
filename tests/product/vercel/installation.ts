import postgres, { type Sql } from "postgres";
import { migrateDatabase } from "#db/migrate";
import { addDomain } from "#server/services/domains/write";
import { createKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { SCOPES } from "#server/shared/scopes";
import { expireLeases } from "../../support/database/leases";
import { createRoleDatabase } from "../../support/database/role-database";
import { installationSecret, openDeps } from "../../support/deps";
import { startPgBouncer } from "../../support/processes/pgbouncer";
import { type SmtpScript, startSmtpTestServer } from "../../support/servers/smtp-test-server";
import { type FunctionInstance, requiredEnvironment, startFunction } from "./functions";

/**
 * A migrated database behind PgBouncer, a relay that follows a script, and a key for the domain
 * `example.org`.
 */
export type Installation = Awaited<ReturnType<typeof openInstallation>>;

const manyCalls = 1_000_000;

export async function openInstallation(script: SmtpScript) {
  const database = await createRoleDatabase();
  const pooler = await startPgBouncer(database.url);
  await migrateDatabase(pooler.url, { pooled: true });
  const relay = await startSmtpTestServer(script);
  const { deps, close } = openDeps(database.url);
  const { id: teamId } = await createTeam(deps, { name: "First" });
  const ctx = { ...deps, teamId, actor: { kind: "operator" } as const, requestId: "test" };
  await addDomain(ctx, { name: "example.org", verified: true });
  const limits = { "POST /api/emails": manyCalls, "GET /api/emails": manyCalls, other: manyCalls };
  const { token } = await createKey(ctx, { name: "Test", scopes: [...SCOPES], domains: "all", limits });
  await close();
  // A frozen function can hold a lock for longer than the role's time limits allow a statement to wait.
  const connection = { lock_timeout: 0, statement_timeout: 0 };
  const sql: Sql = postgres(database.url, { max: 4, connection, onnotice: () => {} });
  const instances: FunctionInstance[] = [];

  return {
    sql,
    relay,
    async start(): Promise<FunctionInstance> {
      const instance = await startFunction({
        ...requiredEnvironment(pooler.url),
        BACKSTAMP_SECRET: installationSecret,
        SMTP_URL: `smtp://${relay.host}:${relay.port}`,
      });
      instances.push(instance);
      return instance;
    },
    /** Posts an email and returns its id; null if the instance did not confirm it. */
    async post({ url }: FunctionInstance, subject: string, to: string[]): Promise<string | null> {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const body = JSON.stringify({ from: "ann@example.org", to, subject, text: "Hello" });
      try {
        const response = await fetch(`${url}/api/emails`, { method: "POST", headers, body });
        const json = (await response.json()) as { id?: string };
        return response.status === 200 ? (json.id ?? null) : null;
      } catch {
        return null;
      }
    },
    /** Lets the lease of every claim expire. */
    expireLeases: () => expireLeases(sql),
    /** Makes everything that waits due. */
    makeDue: async () => {
      await sql`update deliveries set due_at = now() where status in ('queued', 'scheduled') and due_at > now()`;
    },
    /** The delivery of an email with one recipient. */
    delivery: async (emailId: string | null) => {
      const [row] = await sql<{ status: string; stage: string }[]>`
        select case when q.lease_token is null then d.status else 'sending' end as status, coalesce(q.stage, 'idle') as stage
        from deliveries d left join queue q on q.id = d.id where d.email_id = ${emailId}`;
      return row;
    },
    /** The status of each delivery. */
    statuses: async (): Promise<string[]> =>
      (await sql<{ status: string }[]>`select status from deliveries`).map(({ status }) => status),
    /** The recorded unknown outcomes as "email id, recipient". */
    unknowns: async (): Promise<string[]> =>
      (
        await sql<{ key: string }[]>`
          select email_id || ' ' || recipient as key from email_events where type = 'email.unknown'`
      ).map(({ key }) => key),
    /** The messages that reached their final dot, as "subject, recipient". */
    copies: (): string[] =>
      relay.messages.flatMap(({ to, bytes }) => {
        const subject = /^Subject: (.*?)\r$/m.exec(bytes.toString())?.[1] ?? "";
        return to.map((address) => `${subject} ${address}`);
      }),
    async close(): Promise<void> {
      for (const { process } of instances) if (!process.hasExited) await process.killTree();
      await sql.end();
      await relay.close();
      await pooler.stop();
      await database.drop();
    },
  };
}
