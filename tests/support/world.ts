import type { OwnLimits } from "#db/schema/api-keys";
import type { Ctx, RestDeps } from "#server/deps";
import type { Domain } from "#server/services/domains/read";
import { addDomain } from "#server/services/domains/write";
import { createKey, revokeKey } from "#server/services/keys/keys";
import { createTeam } from "#server/services/teams";
import { readScopes } from "#server/shared/scopes";
import { createClock, type DepsOptions, openDeps, type TestClock } from "./deps";
import { freshDatabase } from "./postgres";
import { type CallOptions, callApi, type Reply, startRest } from "./rest";

export type KeyOptions = {
  /** Scopes and presets. Default: `full_access`. */
  scopes?: string[];
  /** Default: every domain of the team. */
  domains?: string[] | "all";
  expiresAt?: Date;
  /** Default: so many that no test meets them by chance. "usual": those that every key has unless told otherwise. */
  limits?: OwnLimits | "usual";
};

/** What a tenant has and can do. */
export type TestTeam = {
  id: string;
  /** As the operator acts for the team, for calling services directly. */
  ctx: Ctx;
  key(options?: KeyOptions): Promise<{ id: string; token: string }>;
  revoke(keyId: string): Promise<void>;
  domain(name: string, options?: { verified?: boolean }): Promise<Domain>;
};

/** A whole Backstamp for one test: a database of its own, a first team, and the REST door over real HTTP. */
export type World = TestTeam & {
  databaseUrl: string;
  baseUrl: string;
  deps: RestDeps;
  clock: TestClock;
  api(method: string, path: string, options?: CallOptions): Promise<Reply>;
  otherTeam(name?: string): Promise<TestTeam>;
  /** Lets time pass for everything that waits or expires: `"5 min"`, `"24 hours"`, any interval of PostgreSQL's. */
  elapse(interval: string): Promise<void>;
  /** Rows per table, for asserting that nothing was written but the record of the call. */
  rowCounts(): Promise<Record<string, number>>;
  close(): Promise<void>;
};

const manyRequests = 1_000_000;
const NO_LIMITS: OwnLimits = {
  "POST /api/emails": manyRequests,
  "GET /api/emails": manyRequests,
  "POST /api/templates": manyRequests,
  other: manyRequests,
};

/** What has a due time, a lease or an expiry. */
const MOVING: Record<string, string[]> = {
  deliveries: ["due_at", "leased_until"],
  idempotency_keys: ["expires_at"],
  api_keys: ["expires_at"],
  domains: ["next_check_at", "failing_since", "expires_at"],
  invitations: ["expires_at"],
  sessions: ["expires_at"],
  workers: ["beat_at"],
  webhooks: ["previous_until", "failing_since", "paused_until"],
  webhook_deliveries: ["due_at", "leased_until"],
};

export async function createWorld(options: DepsOptions = {}): Promise<World> {
  const place = await freshDatabase();
  const clock = options.clock ?? createClock();
  const { deps, close } = openDeps(place.url, { ...options, clock });
  const server = await startRest(deps);
  const team = async (name: string): Promise<TestTeam> => openTeam(deps, name);
  let countAll: string | undefined;

  return {
    ...(await team("First")),
    databaseUrl: place.url,
    baseUrl: server.baseUrl,
    deps,
    clock,
    api: (method, path, call) => callApi(server.baseUrl, method, path, call),
    otherTeam: (name = "Other") => team(name),
    async elapse(interval) {
      const [row] = await deps.hot<{ ms: number }[]>`
        select (extract(epoch from ${interval}::interval) * 1000)::float8 as ms`;
      for (const [table, columns] of Object.entries(MOVING))
        await deps.hot.unsafe(
          `update ${table} set ${columns.map((name) => `${name} = ${name} - $1::text::interval`).join()}`,
          [interval],
        );
      clock.advance(row?.ms ?? 0);
    },
    async rowCounts() {
      countAll ??= await countStatement(deps);
      const rows = await deps.hot.unsafe<{ name: string; n: number }[]>(countAll, [], { prepare: true });
      return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
    },
    async close() {
      await server.close();
      await close();
      await place.drop();
    },
  };
}

/** One statement, for suites that count before and after each of thousands of calls. */
async function countStatement({ hot }: RestDeps): Promise<string> {
  const tables = await hot<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'api_requests' order by 1`;
  return tables
    .map(({ name }) => `select '${name}' as name, count(*)::int as n from "${name}"`)
    .join(" union all ");
}

async function openTeam(deps: RestDeps, name: string): Promise<TestTeam> {
  const { id } = await createTeam(deps, { name });
  const ctx: Ctx = { ...deps, teamId: id, actor: { kind: "operator" }, requestId: "test" };
  return {
    id,
    ctx,
    async key({ scopes: words = ["full_access"], domains = "all", expiresAt, limits = {} } = {}) {
      const read = readScopes(words);
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
