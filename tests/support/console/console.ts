import { encode } from "next-auth/jwt";
import { afterAll } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { memberships, type Role } from "#db/schema/teams";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { readSettings } from "#server/platform/env/settings";
import { newId } from "#server/platform/ids";
import { createBodyBudget } from "#server/platform/limits/body-budget";
import { createLimits } from "#server/platform/limits/limits";
import type { Facts, Log } from "#server/platform/log";
import { createAuthenticate } from "#server/services/keys/authenticate";
import { createJoinedReads } from "#server/services/live/joined-reads";
import { createRequestLog } from "#server/services/logs/record";
import { openSession } from "#server/services/people/sessions";
import { createSignInLimiter } from "#server/services/people/sign-in-counters";
import { insertUser, parseUserAddress } from "#server/services/people/users";
import { createConsoleDoctor } from "#server/startup/doctor-deps";
import { createTrpcContext } from "#server/trpc/context";
import { answerTrpc } from "#server/trpc/http";
import { createCaller } from "#server/trpc/router";
import { deliverAll } from "../pump-engine";
import { openWorld } from "../world";
import { hashPasswordCheaply, makePasswordsCheap } from "./passwords";

export const PASSWORD = "correct horse battery";
const bodyMaxBytes = 48 * 1024 * 1024;
const authSecret = "a".repeat(64);
const url = "https://mail.example.org";

/** The time of all calls that are counted per minute, so that no minute ends between them. */
const fixedTimeMs = () => 90_000;

export type LogLine = { event: string; facts: Facts };

/** For tests with eight calls at once. One that waits 2 s for a connection is rejected. */
export const FOR_CONCURRENT_CALLS = { connectionsMax: 16 };

/**
 * For the top of a test file: the console's HTTP interface in a separate world, with users, their sessions
 * and calls as pages make them. It closes after the tests of the file.
 */
export async function openConsole(options: Parameters<typeof openWorld>[0] = {}) {
  const world = await openWorld(options);
  const makePasswordsExpensive = makePasswordsCheap();
  const lines: LogLine[] = [];
  const record = (event: string, facts: Facts = {}) => void lines.push({ event, facts });
  const log: Log = { info: record, warn: record, error: record };
  const limits = createLimits({
    store: { kind: "in-process" },
    clock: fixedTimeMs,
    log,
  });
  const deps: ConsoleDeps = {
    ...world.deps,
    home: { ...world.deps.home, url },
    log,
    limits,
    authenticate: createAuthenticate(world.hot, world.deps.clock, log),
    requestLog: createRequestLog({ hot: world.hot, clock: world.deps.clock, log }),
    cronSecret: null,
    metricsToken: null,
    inboundToken: null,
    formerInboundTokens: [],
    tick: async () => {},
    bodyMaxBytes,
    bodies: createBodyBudget({ bodyMaxBytes, filesMaxBytes: bodyMaxBytes }),
    trustedHops: 0,
    url,
    examine: createConsoleDoctor(world.deps, readSettings({ DATABASE_URL: world.databaseUrl }, "dev")),
    live: null,
    joinReads: createJoinedReads(0),
    submissionPort: () => null,
    authSecrets: () => [authSecret],
    signInLimiter: createSignInLimiter(world.hot, fixedTimeMs),
    providers: {},
    prepareFirstUser: async () => {},
    peerHeader: "x-backstamp-peer",
  };
  let people = 0;
  const session = (userId: string) => openSession(deps, { userId, address: "192.0.2.1", userAgent: null });
  /** The cookies of a browser with a new session of this user. */
  const cookiesOfUser = async (userId: string) => cookiesOf((await session(userId)).id);
  const callerOf = (cookies: Cookies, address?: string) =>
    createCaller(
      createTrpcContext(deps, cookies, new Headers(address ? { "x-backstamp-peer": address } : {})),
    );
  const otherDatabases: Database[] = [];
  const passwordHash = hashPasswordCheaply(PASSWORD);
  afterAll(async () => {
    makePasswordsExpensive();
    for (const other of otherDatabases) await other.close();
  });

  return {
    world,
    deps,
    lines,
    /** The hash of `PASSWORD`. */
    passwordHash,
    /** Delivers what is due: emails to the stored messages, and webhook events. */
    deliver: () => deliverAll(world.withTransport()),
    /** Creates a user who signs in with `PASSWORD`. */
    person: async (
      input: { teamId?: string; role?: Role; email?: string; isAddressVerified?: boolean } = {},
    ) => {
      const { teamId = world.ctx.teamId, role = "member", email = `person-${++people}@example.org` } = input;
      const { isAddressVerified = true } = input;
      const prepared = { id: newId(), email: parseUserAddress(email), name: null, passwordHash };
      const user = await insertUser(deps.db, prepared, { isAddressVerified });
      await deps.db.insert(memberships).values({ teamId, userId: user.id, role });
      return user;
    },
    /** The same console in another process, on the same database. */
    otherProcess: (): ConsoleDeps => {
      const database = openDatabase(world.databaseUrl, { connectionsMax: 2 });
      otherDatabases.push(database);
      const { db, hot } = database;
      return { ...deps, db, hot, signInLimiter: createSignInLimiter(hot, fixedTimeMs) };
    },
    session,
    cookiesOf: cookiesOfUser,
    /** Calls procedures, from the given IP address if there is one. */
    callerOf,
    /** Calls procedures as this user. */
    callerAs: async (userId: string) => callerOf(await cookiesOfUser(userId)),
    /** Calls like the pages of the console. A body makes it a POST. */
    call: async (path: string, init: RequestInit & { cookies?: Cookies } = {}) => {
      const { cookies = noCookies, ...rest } = init;
      const request = new Request(`${url}/api/trpc/${path}`, rest);
      const response = await answerTrpc(deps, request, cookies);
      return { status: response.status, text: await response.text() };
    },
  };
}

export type Console = Awaited<ReturnType<typeof openConsole>>;

export const noCookies: Cookies = { get: () => undefined };

/** The cookies of a browser with this session. */
export async function cookiesOf(sessionId: string): Promise<Cookies> {
  const token = await encode({ token: { sid: sessionId }, secret: authSecret });
  return { get: (name) => (name === "__Host-backstamp.session" ? { value: token } : undefined) };
}

/** The path of a query, as the console's client builds it. */
export const queryPath = (procedure: string, input: unknown): string =>
  `${procedure}?input=${encodeURIComponent(JSON.stringify(input))}`;
