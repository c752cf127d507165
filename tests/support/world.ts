import { afterAll } from "vitest";
import type { Database, HotSql } from "#db/client";
import type { OwnLimits } from "#db/schema/api-keys";
import { createCapture } from "#server/delivery/attempt/capture";
import type { Ctx, RestDeps, WorkerDeps } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import type { Transport } from "#server/mail/transport/transport";
import type { Domain } from "#server/services/domains/read";
import { addDomain } from "#server/services/domains/write";
import { type NewEmail, sendEmail } from "#server/services/emails/accept/send";
import { getEmail } from "#server/services/emails/read/read";
import { createKey, revokeKey } from "#server/services/keys/keys";
import { admitKeyring } from "#server/services/secrets/registry";
import { createTeam } from "#server/services/teams";
import { parseScopes } from "#server/shared/scopes";
import type { Email } from "#server/shared/wire/email";
import { leaseDatabase } from "./database/lease";
import { freshDatabase } from "./database/postgres";
import { createClock, type DepsOptions, openDeps, startMinute, type TestClock } from "./deps";
import { type CallOptions, callApi, type Reply, startRest } from "./rest";

export type KeyOptions = {
  /** Scopes and presets. Default: `full_access`. */
  scopes?: string[];
  /** Default: every domain of the team. */
  domains?: string[] | "all";
  expiresAt?: Date;
  /**
   * Default: high enough that no test reaches them. "usual": the default limits of a key. With limits, the
   * clock moves to the start of a minute.
   */
  limits?: OwnLimits | "usual";
};

/** The fields of an email that matter to the test; `send` fills the others. */
export type TestEmail = Partial<Omit<NewEmail, "to">> & { to?: string[]; sender?: string };

/** A team, with functions that act on its behalf. */
export type TestTeam = {
  id: string;
  /** The operator, acting for the team, to call services directly. */
  ctx: Ctx;
  key(options?: KeyOptions): Promise<{ id: string; token: string }>;
  revoke(keyId: string): Promise<void>;
  domain(name: string, options?: { verified?: boolean }): Promise<Domain>;
};

/**
 * An installation for one test: its own database, a first team with the verified domain `example.org`, and
 * the REST API over real HTTP.
 */
export type World = TestTeam & {
  databaseUrl: string;
  baseUrl: string;
  deps: RestDeps;
  hot: HotSql;
  clock: TestClock;
  api(method: string, path: string, options?: CallOptions): Promise<Reply>;
  otherTeam(name?: string): Promise<TestTeam>;
  /**
   * Sends with the service, without HTTP: for the first team, or as `by`. Default: one recipient,
   * `ben@example.net`.
   */
  send(email?: TestEmail, by?: Ctx): ReturnType<typeof sendEmail>;
  /** An email of the first team. */
  email(id: string): Promise<Email>;
  /** The dependencies of a worker. Default: the transport stores messages in the database. */
  withTransport(transport?: Transport | null): WorkerDeps;
  /**
   * Moves the clock, and every due time, lease and expiry: `"5 min"`, `"24 hours"`, any interval of
   * PostgreSQL.
   */
  elapse(interval: string): Promise<void>;
  /** Rows per table, to assert that nothing but the record of the call was written. */
  rowCounts(): Promise<Record<string, number>>;
  close(): Promise<void>;
};

const EMAIL = {
  cc: [],
  bcc: [],
  replyTo: [],
  subject: "Hello",
  html: "<p>Hello</p>",
  text: null,
  headers: [],
  tags: [],
  template: null,
  attachments: [],
  scheduledAt: null,
};

function mailbox(text: string) {
  const parsed = parseMailbox(text);
  if (!parsed.ok) throw new Error(parsed.fault);
  return parsed.mailbox;
}

const manyRequests = 1_000_000;
const NO_LIMITS: OwnLimits = {
  "POST /api/emails": manyRequests,
  "GET /api/emails": manyRequests,
  "POST /api/templates": manyRequests,
  other: manyRequests,
};

/** The columns with a due time, a lease or an expiry. */
const TIMES: Record<string, string[]> = {
  deliveries: ["due_at"],
  destination_states: ["blocked_until", "objected_at"],
  idempotency_keys: ["expires_at"],
  api_keys: ["expires_at"],
  domains: ["next_check_at", "failing_since", "expires_at"],
  erasures: ["next_at"],
  team_deletions: ["deletes_at", "next_at"],
  invitations: ["expires_at"],
  jobs: ["due_at"],
  relays: ["paused_until"],
  return_copies: ["due_at", "expires_at", "ended_at"],
  smtp_url_relays: ["paused_until", "last_fault_at"],
  sessions: ["expires_at"],
  workers: ["beat_at"],
  alerts: ["first_seen_at", "last_seen_at", "cleared_at", "opened_at", "resolved_at", "notified_at"],
  alert_calls: ["due_at", "created_at"],
  webhooks: ["previous_until", "failing_since", "paused_until"],
  webhook_deliveries: ["due_at", "leased_until"],
};

/** `emptyDatabase`: the URL of a migrated database of the caller; by default, one of the run is used. */
export async function createWorld(options: DepsOptions & { emptyDatabase?: string } = {}): Promise<World> {
  const { secret, formerSecrets, areSecretsUnchecked, emptyDatabase } = options;
  const hasOwnSecrets = secret !== undefined || formerSecrets !== undefined || areSecretsUnchecked;
  const isEmpty = hasOwnSecrets || emptyDatabase !== undefined;
  const place = isEmpty
    ? await ownDatabase(emptyDatabase)
    : await leaseDatabase("first_team", prepareFirstTeam);
  const clock = options.clock ?? createClock();
  const { deps, close } = openDeps(place.url, { database: place.database, ...options, clock });
  if (!areSecretsUnchecked) await admitKeyring(deps);
  const server = await startRest(deps);
  const { hot } = deps;
  if (isEmpty) await createFirstTeam(deps);
  const [team] = await hot<{ id: string }[]>`select id from teams`;
  if (!team) throw new Error("The database has no first team");
  const first = actFor(deps, clock, team.id);
  let countAll: string | undefined;

  return {
    ...first,
    databaseUrl: place.url,
    baseUrl: server.baseUrl,
    deps,
    hot,
    clock,
    api: (method, path, call) => callApi(server.baseUrl, method, path, call),
    otherTeam: (name = "Other") => createTestTeam(deps, clock, name),
    send: ({ sender = "Ann <ann@example.org>", to = ["ben@example.net"], ...email } = {}, by = first.ctx) =>
      sendEmail(by, { ...EMAIL, ...email, from: mailbox(sender), to: to.map(mailbox) }),
    email: (id) => getEmail(first.ctx, id),
    withTransport: (transport = createCapture(hot)) => ({ ...deps, transport }),
    async elapse(interval) {
      const [row] = await hot<{ ms: number }[]>`
        select (extract(epoch from ${interval}::interval) * 1000)::float8 as ms`;
      for (const [table, columns] of Object.entries(TIMES))
        await hot.unsafe(
          `update ${table} set ${columns.map((name) => `${name} = ${name} - $1::text::interval`).join()}`,
          [interval],
          { prepare: true },
        );
      // The due times of the other rows follow those of their deliveries.
      await hot`update queue set due_at = due_at - ${interval}::text::interval where lease_token is not null`;
      clock.advance(row?.ms ?? 0);
    },
    async rowCounts() {
      countAll ??= await countStatement(deps);
      const rows = await hot.unsafe<{ name: string; n: number }[]>(countAll, [], { prepare: true });
      return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
    },
    async close() {
      await server.close();
      await close();
      await place.release();
    },
  };
}

/** For the top of a test file: a world that is closed after its tests. */
export async function openWorld(options?: Parameters<typeof createWorld>[0]): Promise<World> {
  const world = await createWorld(options);
  afterAll(() => world.close());
  return world;
}

/** A database without a first team. */
async function ownDatabase(
  empty?: string,
): Promise<{ url: string; database?: Database; release(): Promise<void> }> {
  if (empty !== undefined) return { url: empty, release: async () => {} };
  const { url, drop } = await freshDatabase();
  return { url, release: drop };
}

/** One statement, for suites that count before and after each of thousands of calls. */
async function countStatement({ hot }: RestDeps): Promise<string> {
  const tables = await hot<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'api_requests'
      and table_name not in (select relname from pg_class where relispartition)
    order by 1`;
  return tables
    .map(({ name }) => `select '${name}' as name, count(*)::int as n from "${name}"`)
    .join(" union all ");
}

async function createFirstTeam(deps: RestDeps): Promise<void> {
  const { domain } = await createTestTeam(deps, createClock(), "First");
  await domain("example.org");
}

/** Most worlds begin with the same rows, whose statements take longer than a copy of the rows. */
async function prepareFirstTeam(url: string): Promise<void> {
  const { deps, close } = openDeps(url);
  await admitKeyring(deps);
  await createFirstTeam(deps);
  await close();
}

async function createTestTeam(deps: RestDeps, clock: TestClock, name: string): Promise<TestTeam> {
  const { id } = await createTeam(deps, { name });
  return actFor(deps, clock, id);
}

function actFor(deps: RestDeps, clock: TestClock, id: string): TestTeam {
  const ctx: Ctx = { ...deps, teamId: id, actor: { kind: "operator" }, requestId: "test" };
  return {
    id,
    ctx,
    async key({ scopes: words = ["full_access"], domains = "all", expiresAt, limits } = {}) {
      if (limits) startMinute(clock);
      const read = parseScopes(words);
      if ("unknown" in read) throw new Error(`There is no scope ${read.unknown}`);
      const { key, token } = await createKey(ctx, {
        name: "Test key",
        scopes: read.scopes,
        domains,
        expiresAt: expiresAt ?? null,
        limits: limits === "usual" ? {} : { ...NO_LIMITS, ...limits },
      });
      return { id: key.id, token };
    },
    async revoke(keyId) {
      await revokeKey(ctx, keyId);
    },
    domain: (domain, { verified = true } = {}) => addDomain(ctx, { name: domain, verified }),
  };
}
