import { expect } from "vitest";
import type { DepsOptions } from "../support/deps";
import { deliverDue } from "../support/pump-engine";
import type { CallOptions } from "../support/rest";
import { openWorld } from "../support/world";

/** An email that each key may send, and whose delivery is simulated. */
export const EMAIL = {
  from: "ann@backstamp.test",
  to: "delivered@backstamp.test",
  subject: "Hello",
  html: "<p>Hello</p>",
};

/** A world with one verified domain, one key, and calls with this key. It closes after the tests. */
export async function openTestApp(options: DepsOptions & { domain?: string } = {}) {
  const { domain, ...rest } = options;
  const world = await openWorld(rest);
  if (domain) await world.domain(domain);
  const { token, id: keyId } = await world.key();
  /** A valid email of the verified domain. */
  const validEmail = { ...EMAIL, from: `Ann <ann@${domain ?? "example.org"}>`, to: "ben@example.net" };
  /** A call with the key, or with another one. */
  const call = (method: string, path: string, body?: unknown, by = token) =>
    world.api(method, path, { token: by, body });
  const get = (path: string) => call("GET", path);
  /** Posts the valid email with some of its fields changed. */
  const send = (change: object = {}) => call("POST", "/api/emails", { ...validEmail, ...change });
  /** A call that must succeed: the body of its response. */
  const ok = async (...given: Parameters<typeof call>) => {
    const { status, body, text } = await call(...given);
    expect(status, text).toBeLessThan(300);
    return body;
  };
  return {
    world,
    token,
    keyId,
    validEmail,
    call,
    ok,
    get,
    send,
    /** Posts these bytes as an email. */
    post: (raw: string | Uint8Array, headers: CallOptions["headers"] = {}) =>
      world.api("POST", "/api/emails", { token, raw, headers }),
    /** Posts an email that must be accepted, and returns its id. */
    accepted: async (change: object = {}) =>
      String((await ok("POST", "/api/emails", { ...validEmail, ...change })).id),
    /** Reads an email that must exist. */
    show: (id: unknown) => ok("GET", `/api/emails/${id}`),
    /** Delivers the queue to the capture transport, and returns the bytes of an email. */
    async captured(id: string) {
      await deliverDue(world.withTransport());
      const [kept] = await world.hot<
        { raw: Uint8Array }[]
      >`select raw from captured_messages where email_id = ${id}`;
      return Buffer.from(kept?.raw ?? "");
    },
  };
}
