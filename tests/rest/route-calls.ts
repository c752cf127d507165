import { newId } from "#server/platform/ids";
import type { Route } from "#server/rest/pipeline/route";
import { callbackPathOf, setCallback } from "#server/services/callbacks/secrets";
import { addRelay } from "#server/services/relays/write";
import type { CallOptions, Reply } from "../support/rest";
import type { TestTeam, World } from "../support/world";

export const nameOf = ({ method, path }: Route) => `${method} ${path}`;
export const hasId = (route: Route) => route.path.includes("{id}");
const hasVariable = (route: Route) => route.path.includes("{");
export const canHaveBody = ({ method }: Route) => method !== "GET";
export const requireOf = <T>(table: Record<string, T>, name: string): T => {
  const entry = table[name];
  if (!entry) throw new Error(`Add "${name}" to the tables in route-calls.ts`);
  return entry;
};

/**
 * The data that the tests of every route need and a declaration lacks: a valid body, and a row for the path.
 * A new route without an entry fails with a message that names it. `token` is a key of the first team.
 */
export function createRouteCalls(world: World, other: TestTeam, token: string) {
  const EMAIL = {
    from: "ann@backstamp.test",
    to: "delivered@backstamp.test",
    subject: "Hello",
    html: "<p>Hi</p>",
  };

  let nameCount = 0;
  const nextName = () => `n${++nameCount}`;
  /** A domain belongs to one team, so each call adds another one. */
  const nextDomain = () => `${nextName()}.example.net`;

  const WEBHOOK = { endpoint: "https://example.com/hooks", events: ["email.delivered"] };

  const FILE = { filename: "list.bin", content: "aGk=", content_type: "application/octet-stream" };
  const mailWithFile = (by: string) =>
    world.api("POST", "/api/emails", { token: by, body: { ...EMAIL, attachments: [FILE] } });
  const fileOf = async (by: string, email: string) => {
    const { body } = await world.api("GET", `/api/emails/${email}/attachments`, { token: by });
    return { body: (body.data as Record<string, unknown>[])[0] ?? {} };
  };

  /** A valid body for each route with a body. */
  const BODIES: Record<string, () => object> = {
    "POST /api/emails": () => EMAIL,
    "POST /api/emails/batch": () => [EMAIL],
    "PATCH /api/emails/{id}": () => ({ scheduled_at: "in 2 hours" }),
    "POST /api/emails/{id}/retry": () => ({}),
    "POST /api/emails/{id}/settle": () => ({ as: "sent" }),
    "POST /api/emails/retry": () => ({ status: "failed" }),
    "POST /api/templates": () => ({ name: "Welcome", html: "<p>Hi</p>" }),
    "PATCH /api/templates/{id}": () => ({ name: "Renamed" }),
    "POST /api/templates/{id}/preview": () => ({ variables: {} }),
    "POST /api/domains": () => ({ name: nextDomain() }),
    "PATCH /api/domains/{id}": () => ({ open_tracking: true }),
    "POST /api/api-keys": () => ({ name: "Program", scopes: ["keys:write"] }),
    "PATCH /api/api-keys/{id}": () => ({ name: "Renamed" }),
    "POST /api/api-keys/{id}/rotate": () => ({ overlap_seconds: 60 }),
    "POST /api/webhooks": () => WEBHOOK,
    "PATCH /api/webhooks/{id}": () => ({ events: ["email.bounced"] }),
    "POST /api/webhooks/{id}/replay": () => ({ since: "2026-01-01T00:00:00Z" }),
    "POST /api/suppressions": () => ({ email: "ann@example.com" }),
    "POST /api/suppressions/batch/add": () => ({ emails: ["ann@example.com"] }),
    "POST /api/suppressions/batch/remove": () => ({ emails: ["ann@example.com"] }),
  };

  /** Bodies that are not JSON, by content type. */
  const FILES: Record<string, string> = {
    "text/csv": "email\nann@example.com\n",
    "message/rfc822": "From: ben@example.com\r\nAuto-Submitted: auto-replied\r\n\r\nI am away.\r\n",
    "application/json": '{"RecordType":"Open","MessageID":"00000000-0000-0000-0000-000000000000"}',
  };

  /** Creates a row of a team, for each resource with an id in the path. */
  const ROWS: Record<string, (by: string) => Promise<Pick<Reply, "body">>> = {
    emails: (by) => world.api("POST", "/api/emails", { token: by, body: EMAIL }),
    templates: (by) => world.api("POST", "/api/templates", { token: by, body: { name: "x", html: "x" } }),
    // Without its DKIM key, which is slow to create; reading the row creates it.
    domains: async (by) => ({ body: await (by === token ? world : other).domain(nextDomain()) }),
    "api-keys": (by) =>
      world.api("POST", "/api/api-keys", {
        token: by,
        body: { name: "x", scopes: ["keys:write"], domains: ["backstamp.test"] },
      }),
    webhooks: async (by) => {
      // A team has a maximum number of endpoints, and no test needs older ones.
      await world.hot`delete from webhooks where id in (select id from webhooks order by id desc offset 20)`;
      return world.api("POST", "/api/webhooks", { token: by, body: WEBHOOK });
    },
    suppressions: (by) =>
      world.api("POST", "/api/suppressions", { token: by, body: { email: `${nextName()}@example.com` } }),
    logs: async (by) => {
      await world.api("GET", "/api/emails", { token: by });
      await world.deps.requestLog.flush();
      const { body } = await world.api("GET", "/api/logs?limit=1", { token: by });
      return { body: (body.data as Record<string, unknown>[])[0] ?? {} };
    },
  };

  /** Creates a row in the state that a call requires. */
  const ROWS_FOR: Record<string, (by: string) => Promise<Pick<Reply, "body">>> = {
    "PATCH /api/emails/{id}": (by) =>
      world.api("POST", "/api/emails", { token: by, body: { ...EMAIL, scheduled_at: "in 1 hour" } }),
    "POST /api/emails/{id}/cancel": (by) =>
      world.api("POST", "/api/emails", { token: by, body: { ...EMAIL, scheduled_at: "in 1 hour" } }),
    "GET /api/emails/{id}/attachments/{attachment_id}": mailWithFile,
    "POST /api/templates/{id}/preview": (by) => {
      const variables = [{ key: "NAME", type: "string", fallback_value: "friend" }];
      const body = { name: "x", html: "<p>{{{NAME}}}</p>", variables };
      return world.api("POST", "/api/templates", { token: by, body });
    },
    "POST /api/emails/{id}/retry": async (by) => {
      const made = await world.api("POST", "/api/emails", { token: by, body: EMAIL });
      await world.hot`update deliveries set status = 'failed' where email_id = ${String(made.body.id)}`;
      return made;
    },
    "POST /api/emails/{id}/settle": async (by) => {
      const made = await world.api("POST", "/api/emails", { token: by, body: EMAIL });
      await world.hot`update deliveries set status = 'unknown', due_at = now() where email_id = ${String(made.body.id)}`;
      return made;
    },
  };

  /** Creates a row below such a row. */
  const ROWS_BELOW: Record<string, (by: string, parent: string) => Promise<Pick<Reply, "body">>> = {
    version: async (by, template) => {
      const { body } = await world.api("GET", `/api/templates/${template}/versions`, { token: by });
      return { body: (body.data as Record<string, unknown>[])[0] ?? {} };
    },
    attachment_id: fileOf,
    event_id: (by, webhook) => world.api("POST", `/api/webhooks/${webhook}/test`, { token: by }),
    domain_id: (by) => requireOf(ROWS, "domains")(by),
  };

  const linkToUnsubscribe = () =>
    new URL(
      world.deps.recipientTokens.unsubscribeLink({
        teamId: world.id,
        emailId: newId(),
        address: `${nextName()}@example.com`,
      }),
    ).pathname;

  const copy = () => ({ teamId: world.id, emailId: newId(), deliveryId: newId() });

  /** A relay whose callbacks the secret in the route's example authenticates. */
  async function newRelay(): Promise<string> {
    const url = "smtp://127.0.0.1:2525";
    const scope = { teamId: null, domainId: null };
    const relay = await addRelay(world.ctx, { name: nextName(), url, ...scope, provider: "postmark" });
    await setCallback(world.ctx, relay, { secret: "the-secret-of-this-relay" });
    return relay.id;
  }

  /** Paths with a signed token in place of an id. */
  const PATHS: Record<string, (by: string) => Promise<string>> = {
    "GET /api/unsubscribe/{token}": async () => linkToUnsubscribe(),
    "POST /api/unsubscribe/{token}": async () => linkToUnsubscribe(),
    "POST /api/unsubscribe/{token}/all": async () => `${linkToUnsubscribe()}/all`,
    "POST /api/unsubscribe/{token}/resubscribe": async () => `${linkToUnsubscribe()}/resubscribe`,
    "POST /api/inbound/relays/{relay_id}": async () => callbackPathOf(await newRelay()),
    "GET /api/opens/{token}": async () => new URL(world.deps.recipientTokens.openLink(copy())).pathname,
    "GET /api/clicks/{token}": async () =>
      new URL(world.deps.recipientTokens.clickLink(copy(), "https://example.com/")).pathname,
    "GET /api/attachments/{token}": async (by) => {
      const { body } = await mailWithFile(by);
      return new URL(String((await fileOf(by, String(body.id))).body.download_url)).pathname;
    },
    "GET /api/health/hops/{token}": async () => {
      const inAnHour = new Date(world.clock.now().getTime() + 3_600_000);
      return new URL(world.deps.links.make("/api/health/hops/{token}", [newId()], inAnHour)).pathname;
    },
  };

  /** The query of a call that requires one, after adding the row that it names. */
  async function queryOf(route: Route): Promise<string> {
    if (nameOf(route) !== "GET /api/tracking-hosts") return "";
    const name = "example.com";
    await world.hot`delete from domains where name = ${name}`;
    const { id, teamId } = await world.domain(name);
    await world.hot`
      insert into tracking_hosts (team_id, domain_id, host, seen_at)
      values (${teamId}, ${id}, ${`links.${name}`}, now())`;
    return `?domain=links.${name}`;
  }

  /** A path of the route with a row of the key's team. */
  async function pathOf(route: Route, by: string): Promise<string> {
    if (!hasVariable(route)) return route.path;
    if (!hasId(route)) return requireOf(PATHS, nameOf(route))(by);
    const make = ROWS_FOR[nameOf(route)] ?? requireOf(ROWS, route.path.split("/")[2] ?? "");
    const made = await make(by);
    const id = String(made.body.id);
    const path = route.path.replace("{id}", id);
    const below = /\{(\w+)\}/.exec(path)?.[1];
    if (below === undefined) return path;
    const within = await requireOf(ROWS_BELOW, below)(by, id);
    return path.replace(`{${below}}`, String(within.body.id));
  }

  function goodBody(route: Route): CallOptions {
    if (route.accepts)
      return {
        raw: requireOf(FILES, route.accepts),
        headers: { "content-type": route.accepts, ...route.example?.headers },
      };
    return route.body ? { body: requireOf(BODIES, nameOf(route))() } : {};
  }

  /** The credential for the route; undefined if it needs none. */
  function bearerOf({ access }: Route, key: string): string | undefined {
    if (access === "public") return undefined;
    if (typeof access === "object") return key;
    const { cronSecret, inboundToken, metricsToken } = world.deps;
    const secrets = {
      "operator-token": cronSecret,
      "inbound-token": inboundToken,
      "metrics-token": metricsToken,
    };
    return secrets[access] ?? undefined;
  }

  return {
    pathOf,
    queryOf,
    goodBody,
    bearerOf,
    bodyOf: (route: Route) => requireOf(BODIES, nameOf(route))(),
  };
}
