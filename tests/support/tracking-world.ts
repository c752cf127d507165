import PostalMime from "postal-mime";
import { afterAll } from "vitest";
import type { DepsOptions } from "./deps";
import { addSignedDomain } from "./dkim-verifier";
import { deliverDue } from "./pump-engine";
import { transportTo } from "./relays";
import { DROP, type SmtpTestServer, startSmtpTestServer } from "./servers/smtp-test-server";
import { openWorld, type World } from "./world";

export const TARGET = "https://example.com/shop?a=1&b=2";
export const HTML = `<!doctype html>\n<p>Hi <a href="https://example.com/shop?a=1&amp;b=2">shop</a> <a href="https://example.com/unsubscribe">leave</a></p>\n`;
export const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

const DOMAINS = {
  "plain.example": null,
  "tracked.example": { open_tracking: true, click_tracking: true },
  "opens.example": { open_tracking: true },
  "changing.example": { open_tracking: true, click_tracking: true },
};

export type Sent = { id: string; html: string; text: string; pixel: string; click: string; bytes: Buffer };

/**
 * A world with domains that track, and a mail server for recipients. Tests can read the recorded visits of an
 * email.
 */
export type TrackingWorld = {
  world: World;
  peer: SmtpTestServer;
  token: string;
  /** Whether the connection is dropped after the message was sent. */
  dropMessages(isLost: boolean): void;
  send(more?: object): Promise<string>;
  round(): Promise<unknown>;
  /** Sends and delivers an email, and parses its first copy. */
  deliver(more?: object): Promise<Sent>;
  /** Makes all events of an email older, so that no time filter applies to them. */
  later(id: string, interval?: string): PromiseLike<unknown>;
  visit(path: string, agent?: string, method?: string): ReturnType<World["api"]>;
  visitsOf(id: string): Promise<Record<string, unknown>[]>;
};

export async function openTrackingWorld(options: DepsOptions = {}): Promise<TrackingWorld> {
  let isLost = false;
  const world = await openWorld({ transportKind: "relay", ...options });
  const { token } = await world.key();
  for (const [name, change] of Object.entries(DOMAINS)) {
    const id = await addSignedDomain(world, name);
    if (change) await world.api("PATCH", `/api/domains/${id}`, { token, body: change });
  }
  const peer = await startSmtpTestServer({ message: () => (isLost ? DROP : "250 2.0.0 kept") });
  const transport = transportTo(peer);
  afterAll(async () => {
    await transport.close();
    await peer.close();
  });
  const round = () => deliverDue(world.withTransport(transport));

  async function send(more: object = {}): Promise<string> {
    const letter = { from: "ann@tracked.example", to: ["ben@example.net"], subject: "News", html: HTML };
    const { status, text, body } = await world.api("POST", "/api/emails", {
      token,
      body: { ...letter, ...more },
    });
    if (status !== 200) throw new Error(`not accepted: ${text}`);
    return String(body.id);
  }

  return {
    world,
    peer,
    token,
    dropMessages: (to) => {
      isLost = to;
    },
    send,
    round,
    async deliver(more = {}) {
      const id = await send(more);
      await round();
      const bytes = peer.messages[0]?.bytes ?? Buffer.of();
      const { html = "", text = "" } = await PostalMime.parse(bytes);
      const pathIn = (pattern: RegExp) =>
        new URL(pattern.exec(html)?.[1] ?? "https://none.example/none").pathname;
      return {
        id,
        html,
        text,
        bytes,
        pixel: pathIn(/<img src="([^"]+)"/),
        click: pathIn(/<a href="([^"]+)"/),
      };
    },
    later: (id, interval = "1 minute") =>
      world.deps
        .hot`update email_events set created_at = created_at - ${interval}::interval where email_id = ${id}`,
    visit: (path, agent = BROWSER, method = "GET") =>
      world.api(method, path, { headers: { "user-agent": agent } }),
    async visitsOf(id) {
      const { body } = await world.api("GET", `/api/emails/${id}`, { token });
      const events = body.events as {
        type: string;
        recipient: string;
        data: { visit?: Record<string, unknown> };
      }[];
      return events
        .filter(({ data }) => data.visit)
        .map(({ type, recipient, data }) => ({ type, recipient, ...data.visit }));
    },
  };
}
