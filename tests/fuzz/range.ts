import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import type { Log } from "#server/platform/log";
import type { Route } from "#server/rest/pipeline/route";
import { routes } from "#server/rest/routes";
import { openHttpServer } from "#server/startup/http/node";
import { createRestApi } from "#server/startup/http/rest-endpoint";
import { createRouteCalls, nameOf } from "../rest/route-calls";
import { watchWrites } from "../support/database/write-watch";
import { callApi, type Reply } from "../support/rest";
import { createWorld } from "../support/world";
import type { Plan } from "./plans";
import { makeRequest, type Request, targetOf } from "./requests";

export type Count = {
  requests: number;
  good: number;
  limited: number;
  unauthorized: number;
  reached: Set<string>;
};

/** A Backstamp behind its own HTTP server, with every commit observed. */
export type Range = {
  count: Count;
  /** Makes a request, and throws if its response is not allowed. */
  run(plan: Plan): Promise<void>;
  /** Checks what must hold after all requests. */
  judge(): Promise<void>;
  close(): Promise<void>;
};

const cronSecret = "the-operator's-secret-0123456789";
const metricsToken = "the-token-of-prometheus-0123456789";
const cleanUpEvery = 200;

/** Calls after which the path must name another row. */
const isConsuming = ({ method, path }: Route) =>
  method === "DELETE" || /\/(cancel|retry|settle|rotate)$/.test(path);

/** Writes bytes to a separate connection, and returns everything until the server closes it. */
async function exchange(port: number, head: Buffer, content: Buffer): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(Buffer.concat([head, content]));
  return text(socket).catch((error: NodeJS.ErrnoException) => {
    if (content.length === 0 || (error.code !== "ECONNRESET" && error.code !== "EPIPE")) throw error;
    // A server that rejects the head closes the connection while the content arrives, and the reset can
    // overtake its response.
    return exchange(port, head, Buffer.alloc(0));
  });
}

export async function openRange(): Promise<Range> {
  const faults: unknown[] = [];
  const log: Log = { info() {}, warn() {}, error: (event, facts) => faults.push({ event, facts }) };
  const world = await createWorld({ log, cronSecret, metricsToken, bodyMaxBytes: 256 * 1024 });
  const { token } = await world.key();
  const calls = createRouteCalls(world, await world.otherTeam(), token);
  const { hot } = world.deps;
  // For readiness: a worker exists.
  await hot`
    insert into workers (id, host, pid, transport, beat_at)
    values (gen_random_uuid(), 'here', 1, 'capture', now() + interval '1 day')`;
  const writes = await watchWrites(hot);
  const server = await openHttpServer({
    host: "127.0.0.1",
    port: 0,
    apiHost: null,
    rest: Promise.resolve(createRestApi(world.deps)),
    pages: {
      request: async (_, outgoing) => void outgoing.writeHead(204, { "x-page": "1" }).end(),
      upgrade: async (_, socket) => void socket.destroy(),
    },
    upgrades: false,
    log,
  });
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const count: Count = { requests: 0, good: 0, limited: 0, unauthorized: 0, reached: new Set() };

  const paths = new Map<string, string>();
  async function pathFor(route: Route): Promise<string> {
    const name = nameOf(route);
    const known = paths.get(name);
    if (known !== undefined) return known;
    const path = (await calls.pathOf(route, token)) + (await calls.queryOf(route));
    await writes.since();
    paths.set(name, path);
    return path;
  }

  async function send(
    request: Request,
    bearer: string | undefined,
  ): Promise<Pick<Reply, "status" | "text" | "headers">> {
    const { method, body, raw, headers, lines } = request;
    if (lines === undefined) {
      const call = () =>
        callApi(baseUrl, method, targetOf(request), {
          headers,
          ...(bearer !== undefined && { token: bearer }),
          ...(method === "HEAD" || method === "GET" ? {} : raw === undefined ? { body } : { raw }),
        });
      // A kept connection may close at the moment in which it is used again. Clients retry then.
      return call().catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ECONNRESET" && error.code !== "EPIPE") throw error;
        return call();
      });
    }
    const content = Buffer.from(raw ?? JSON.stringify(body) ?? "");
    const head = [
      `${method} ${targetOf(request)} HTTP/1.1`,
      "Host: localhost",
      "Connection: close",
      "Content-Type: application/json",
      ...(bearer === undefined ? [] : [`Authorization: Bearer ${bearer}`]),
      ...(/^(content-length|transfer-encoding)/i.test(lines) ? [] : [`Content-Length: ${content.length}`]),
      lines,
    ];
    const answer = await exchange(
      server.port,
      Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"),
      content,
    );
    const [top = "", said = ""] = answer.split(/\r\n\r\n/);
    const [first = "", ...rest] = top.split("\r\n");
    const named = rest.map((line) => [
      line.split(":", 1)[0]?.toLowerCase() ?? "",
      line.replace(/^[^:]*: */, ""),
    ]);
    return { status: Number(first.split(" ")[1]), text: said, headers: Object.fromEntries(named) };
  }

  function expectAnswer({ status, text, headers }: Pick<Reply, "status" | "text" | "headers">): void {
    expect(status).toBeGreaterThanOrEqual(200);
    // A path may be outside the API.
    if (headers["x-page"]) return;
    expect(status, text.slice(0, 500)).toBeLessThan(500);
    expect(headers["x-ratelimit-limit"]).toMatch(/^\d+$/);
    if (status < 400) return;
    expect(text).not.toMatch(/node_modules|drizzle|Postgres|\bat \w+ \(/);
    // A recipient with an invalid unsubscribe link gets a page.
    if (status === 404 && headers["content-type"] === "text/html; charset=utf-8") return;
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    if (text === "") return;
    expect(JSON.parse(text).error).toEqual(expect.any(String));
  }

  async function run(plan: Plan): Promise<void> {
    const route = routes[plan.route];
    if (!route) throw new Error("There is no such route");
    if (count.requests++ % cleanUpEvery === 0) {
      await hot`delete from webhooks where id in (select id from webhooks order by id desc offset 20)`;
      await writes.since();
    }
    const request = makeRequest(route, plan, await pathFor(route), calls.goodBody(route));
    const isForKeys = typeof route.access === "object" || request.isElsewhere;
    const bearer = isForKeys ? token : calls.bearerOf(route, token);
    faults.length = 0;
    const answer = await send(request, bearer);
    const { status } = answer;
    const what = () =>
      `${request.method} ${targetOf(request)} ${JSON.stringify(plan.mutations).slice(0, 1_000)}`;
    try {
      expectAnswer(answer);
      const written = await writes.since();
      if (status >= 400) expect(written, `${status} ${answer.text}`).toEqual([]);
      expect(faults).toEqual([]);
    } catch (error) {
      if (error instanceof Error) error.message = `${what()}\n${error.message}`;
      throw error;
    }
    if (status < 300 && !answer.headers["x-page"]) count.good++;
    // A redirecting link succeeds with 302.
    if (status === route.status && !answer.headers["x-page"] && !request.isElsewhere)
      count.reached.add(nameOf(route));
    if (status === 429) count.limited++;
    if (status === 401) count.unauthorized++;
    if (
      status === 404 ||
      status === 409 ||
      (status < 300 && (isConsuming(route) || request.method !== route.method))
    )
      paths.delete(nameOf(route));
  }

  return {
    count,
    run,
    async judge() {
      // An email exists completely or not at all.
      const broken = await hot`
        select e.id from emails e
        where not exists (select from email_bodies b where (b.team_id, b.email_id) = (e.team_id, e.id))
          or not exists (select from deliveries d where (d.team_id, d.email_id) = (e.team_id, e.id))
          or not exists (select from email_events v where (v.team_id, v.email_id) = (e.team_id, e.id))`;
      expect([...broken]).toEqual([]);
      expect(({} as Record<string, unknown>).a).toBeUndefined();
    },
    async close() {
      await server.close(1_000);
      await world.close();
    },
  };
}
