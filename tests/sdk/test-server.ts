import PostalMime, { type Email } from "postal-mime";
import type { ErrorResponse as Known } from "resend";
import type { ErrorResponse as KnownBefore } from "resend-6.22";
import { afterAll, describe, expect, vi } from "vitest";
import { silentLog } from "#server/platform/log";
import { openHttpServer } from "#server/startup/http/node";
import { createRestApi } from "#server/startup/http/rest-endpoint";
import type { DepsOptions } from "../support/deps";
import { forAllTests } from "../support/fixtures";
import { createWebhookWorld } from "../support/webhook-world";
import type { KeyOptions, TestTeam } from "../support/world";
import { API_HOST, type Client, resolveAllHostsToLoopback, type Sdk, VERSIONS } from "./clients";

/** A separate team for one client, with a verified domain. */
export type TestAccount = {
  team: TestTeam;
  sdk: Sdk;
  domain: string;
  /** A valid email. */
  mail: { from: string; to: string; subject: string; html: string };
  /** The same client with another key of the team. */
  with(key: KeyOptions): Promise<Sdk>;
};

/**
 * A Backstamp behind the product's HTTP server, used only through the official client. It closes after the
 * tests of the file.
 */
export async function startTestServer(options: DepsOptions = {}) {
  const world = await createWebhookWorld(options);
  const server = await openHttpServer({
    host: "127.0.0.1",
    port: 0,
    apiHost: API_HOST,
    rest: Promise.resolve(createRestApi(world.deps)),
    pages: {
      request: async (_, outgoing) => void outgoing.writeHead(404).end("<h1>No such page</h1>"),
      upgrade: async (_, socket) => void socket.destroy(),
    },
    upgrades: false,
    log: silentLog,
  });
  const restoreHosts = resolveAllHostsToLoopback();
  // Loaded before, because the client imports it later, and files of one worker share it: React has another
  // build for production.
  await import("react-dom/server");
  // In other environments the older client logs every error to the console.
  vi.stubEnv("NODE_ENV", "production");
  const openClient = (client: Client, token: string): Sdk => client.open(server.port, token);

  afterAll(async () => {
    vi.unstubAllEnvs();
    await restoreHosts();
    await server.close(0);
    await world.close();
  });
  let count = 0;
  return {
    open: openClient,
    world,
    port: server.port,
    /** A team with a verified domain and a key, and the client for them. */
    async account(client: Client): Promise<TestAccount> {
      const team = await world.otherTeam(client.name);
      const domain = `s${++count}.example.org`;
      await team.domain(domain);
      const open = async (key?: KeyOptions) => openClient(client, (await team.key(key)).token);
      const mail = {
        from: `Ann <ann@${domain}>`,
        to: "ben@example.net",
        subject: "Hello",
        html: "<p>Hello</p>",
      };
      return { team, sdk: await open(), domain, mail, with: open };
    },
    /** The message of an email, after its delivery. */
    async sentMessage(id: string): Promise<Email> {
      await world.sendDue();
      const [kept] = await world.hot<{ raw: Uint8Array }[]>`
        select raw from captured_messages where email_id = ${id}`;
      if (!kept) throw new Error("The email was not sent");
      return PostalMime.parse(kept.raw);
    },
  };
}

export type TestServer = Awaited<ReturnType<typeof startTestServer>>;

/** The tests of each version of the client, each with an account of its own. */
export function describeClients(
  server: TestServer,
  tests: (client: Client, account: TestAccount) => void,
): void {
  describe.each(VERSIONS)("$name", (client) =>
    tests(
      client,
      forAllTests(() => server.account(client)),
    ),
  );
}

type Answer<T> = { data: T | null; error: unknown; headers: Record<string, string> | null };

/** The data of a successful call. It must not have the field by which some clients detect an error. */
export async function data<T>(call: PromiseLike<Answer<T>>): Promise<T> {
  const { data, error } = await call;
  if (data === null) throw new Error(JSON.stringify(error));
  expect(data).not.toHaveProperty("statusCode");
  return data;
}

/** The error of a failed call. */
export async function errorOf(
  call: PromiseLike<Omit<Answer<unknown>, "headers">>,
): Promise<Record<string, unknown>> {
  const { data, error, headers } = (await call) as Answer<unknown>;
  expect(data).toBeNull();
  expect(headers).toMatchObject({
    "x-ratelimit-limit": expect.any(String),
    "x-ratelimit-remaining": expect.any(String),
    "x-ratelimit-reset": expect.any(String),
  });
  return error as Record<string, unknown>;
}

/** Matches an error in the shape of the client's types, with a name that both versions have. */
export const errorWith = (
  statusCode: number,
  name: Known["name"] & KnownBefore["name"],
  message: string | RegExp = /./,
) => expect.objectContaining({ statusCode, name, message: expect.stringMatching(message) });
