import { newId } from "#server/platform/ids";
import { callbackPathOf, setCallback } from "#server/services/callbacks/secrets";
import { findRelay } from "#server/services/relays/read";
import { addRelay } from "#server/services/relays/write";
import type { DepsOptions } from "../support/deps";
import type { Reply } from "../support/rest";
import type { Call, FakeProvider } from "../support/servers/providers";
import { openWorld, type TestTeam } from "../support/world";

/** An email sent by a relay: its id, its recipient, and its id at the provider. */
export const UNAUTHORIZED = { status: 401, text: '{"error":"Unauthorized"}' };

export type Sent = { id: string; address: string; providerId: string; messageId: string };

/**
 * An installation whose first team sends from `example.org` through relays, with helpers for provider
 * callbacks.
 */
export async function openCallbackApp(options: DepsOptions = {}) {
  const world = await openWorld({ transportKind: "relay", ...options });
  const { token } = await world.key();
  const { hot } = world.deps;

  /** A relay of a provider with callbacks enabled, for one team or (by default) for all. */
  async function relayOf({ provider, given }: FakeProvider, team?: TestTeam): Promise<string> {
    const { id } = await addRelay(world.ctx, {
      name: newId(),
      url: "smtp://user:password@127.0.0.1:2525",
      teamId: team?.id ?? null,
      domainId: null,
      provider,
    });
    await setCallback(world.ctx, await findRelay(world.ctx, id), given);
    return id;
  }

  /** An email that this relay has sent, in one transaction for all its recipients. */
  async function sent(relayId: string, fake: FakeProvider, to = [`${newId()}@example.net`]): Promise<Sent> {
    const body = { from: "Ann <ann@example.org>", to, subject: "Hello", text: "Hello" };
    const reply = await world.api("POST", "/api/emails", { token, body });
    const id = String(reply.body.id);
    const [row] = await hot<{ messageId: string }[]>`
      select message_id as "messageId" from emails where id = ${id}`;
    const messageId = row?.messageId ?? "";
    const providerId = fake.newProviderId(messageId);
    await hot`
      update deliveries set status = 'sent', attempts = 1, relay_id = ${relayId}, provider_id = ${providerId}
      where email_id = ${id}`;
    await hot`update emails set status = 'sent' where id = ${id}`;
    return { id, address: to[0] ?? "", providerId, messageId };
  }

  const show = async (id: string) => (await world.api("GET", `/api/emails/${id}`, { token })).body;
  return {
    world,
    relayOf,
    sent,
    post: async (relayId: string, call: Call): Promise<Reply> => {
      const once = () => world.api("POST", callbackPathOf(relayId), call);
      // A keep-alive connection may close at the moment of its reuse; every client then retries on a new one.
      return once().catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ECONNRESET" && error.code !== "EPIPE") throw error;
        return once();
      });
    },
    email: show,
    statusOf: async (id: string) => (await show(id)).status,
    eventsOf: async (id: string) => ((await show(id)).events as { type: string }[]).map(({ type }) => type),
    /** The origin of the suppression of an address; null if it is not suppressed. */
    suppressed: async (address: string): Promise<unknown> => {
      const { status, body } = await world.api("GET", `/api/suppressions/${address}`, { token });
      return status === 404 ? null : body.origin;
    },
  };
}
