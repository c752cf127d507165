import { expect } from "vitest";
import type { DepsOptions } from "../support/deps";
import { deliverDue } from "../support/pump-engine";
import type { CallOptions, Reply } from "../support/rest";
import { openWorld, type World } from "../support/world";

/** A world with one verified domain, one key and helpers for tests of emails. It closes after the tests. */
export type TestApp = {
  world: World;
  token: string;
  keyId: string;
  /** A valid email. */
  validEmail: { from: string; to: string; subject: string; html: string };
  get(path: string): Promise<Reply>;
  /** Posts the valid email with some of its fields changed. */
  send(change?: object): Promise<Reply>;
  /** Posts these bytes as an email. */
  post(raw: string | Uint8Array, headers?: CallOptions["headers"]): Promise<Reply>;
  /** Posts an email that must be accepted, and returns its id. */
  accepted(change?: object): Promise<string>;
  /** Reads an email that must exist. */
  show(id: string): Promise<Record<string, unknown>>;
  /** Delivers the queue to the capture transport, and returns the bytes of an email. */
  captured(id: string): Promise<Buffer>;
};

export async function openTestApp(options: DepsOptions & { domain?: string } = {}): Promise<TestApp> {
  const { domain, ...rest } = options;
  const world = await openWorld(rest);
  if (domain) await world.domain(domain);
  const { token, id: keyId } = await world.key();
  const validEmail = {
    from: `Ann <ann@${domain ?? "example.org"}>`,
    to: "ben@example.net",
    subject: "Hello",
    html: "<p>Hello</p>",
  };
  const get = (path: string) => world.api("GET", path, { token });
  const send = (change: object = {}) =>
    world.api("POST", "/api/emails", { token, body: { ...validEmail, ...change } });
  return {
    world,
    token,
    keyId,
    validEmail,
    get,
    send,
    post: (raw, headers = {}) => world.api("POST", "/api/emails", { token, raw, headers }),
    async accepted(change) {
      const { status, body, text } = await send(change);
      expect(status, text).toBe(200);
      return String(body.id);
    },
    async show(id) {
      const { status, body, text } = await get(`/api/emails/${id}`);
      expect(status, text).toBe(200);
      return body;
    },
    async captured(id) {
      const { hot } = world.deps;
      await deliverDue(world.withTransport());
      const [kept] = await hot<
        { raw: Uint8Array }[]
      >`select raw from captured_messages where email_id = ${id}`;
      return Buffer.from(kept?.raw ?? "");
    },
  };
}
