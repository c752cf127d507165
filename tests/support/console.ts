import { encode } from "next-auth/jwt";
import { memberships, type Role } from "#db/schema/teams";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/console-deps";
import { newId } from "#server/ids";
import { createInProcessStore } from "#server/limits/in-process";
import { createLimits } from "#server/limits/limits";
import type { Facts, Log } from "#server/log";
import { createBodyRoom } from "#server/rest/body-room";
import { createAuthenticate } from "#server/services/keys/authenticate";
import { createRequestLog } from "#server/services/logs/record";
import { openSession } from "#server/services/sessions";
import { insertUser, readAddress } from "#server/services/users";
import { createTrpcContext } from "#server/trpc/context";
import { answerTrpc } from "#server/trpc/http";
import { createCaller } from "#server/trpc/router";
import { type House, openHouse } from "./house";
import { storedCheaply } from "./passwords";

export const PASSWORD = "correct horse battery";
const authSecret = "a".repeat(64);
const url = "https://mail.example.org";

export type LogLine = { event: string; facts: Facts };

/** The console's door over a house of its own: people, their sessions, and calls as pages make them. */
export async function openConsole() {
  const house = await openHouse();
  const lines: LogLine[] = [];
  const record = (event: string, facts: Facts = {}) => void lines.push({ event, facts });
  const log: Log = { info: record, warn: record, error: record };
  const limits = createLimits({ store: { kind: "in-process" }, clock: Date.now, log });
  const deps: ConsoleDeps = {
    ...house.deps,
    log,
    limits,
    authenticate: createAuthenticate(house.hot, house.deps.clock, log),
    requestLog: createRequestLog({ hot: house.hot, clock: house.deps.clock, log }),
    cronSecret: null,
    inboundToken: null,
    tick: async () => {},
    bodyMaxBytes: 1024,
    bodyRoom: createBodyRoom(1024),
    trustedHops: 0,
    url,
    authSecret,
    // One moment for all tries, so that no minute ends between them.
    signInTries: createInProcessStore(() => 90_000),
    providers: {},
    prepareFirstUser: async () => {},
    peerHeader: "x-posthorn-peer",
  };
  let people = 0;
  const passwordHash = storedCheaply(PASSWORD);

  return {
    house,
    deps,
    lines,
    /** Somebody who signs in by `PASSWORD`. */
    person: async (
      input: { teamId?: string; role?: Role; email?: string; isAddressProved?: boolean } = {},
    ) => {
      const { teamId = house.ctx.teamId, role = "member", email = `person-${++people}@example.org` } = input;
      const { isAddressProved = true } = input;
      const prepared = { id: newId(), email: readAddress(email), name: null, passwordHash };
      const user = await insertUser(deps.db, prepared, { isAddressProved });
      await deps.db.insert(memberships).values({ teamId, userId: user.id, role });
      return user;
    },
    session: (userId: string) => openSession(deps, { userId, address: "192.0.2.1", userAgent: null }),
    /** Calls procedures, from a network address of one's own where one is given. */
    callerOf: (cookies: Cookies, address?: string) =>
      createCaller(
        createTrpcContext(deps, cookies, new Headers(address ? { "x-posthorn-peer": address } : {})),
      ),
    /** Calls as the console's pages do; a body makes it a POST. */
    call: async (path: string, init: RequestInit & { cookies?: Cookies } = {}) => {
      const { cookies = noCookies, ...rest } = init;
      const request = new Request(`${url}/api/trpc/${path}`, rest);
      const response = await answerTrpc(deps, request, cookies);
      return { status: response.status, text: await response.text() };
    },
    close: () => house.close(),
  };
}

export type Console = Awaited<ReturnType<typeof openConsole>>;

export const noCookies: Cookies = { get: () => undefined };

/** The cookies of a browser in which that session was opened. */
export async function cookiesOf(sessionId: string): Promise<Cookies> {
  const token = await encode({ token: { sid: sessionId }, secret: authSecret });
  return { get: (name) => (name === "__Host-posthorn.session" ? { value: token } : undefined) };
}

/** The address of one query, as the console's client writes it. */
export const queryPath = (procedure: string, input: unknown): string =>
  `${procedure}?input=${encodeURIComponent(JSON.stringify(input))}`;

export type { House };
