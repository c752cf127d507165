import { newId } from "#server/ids";
import { callbackPathOf, setCallback } from "#server/services/callbacks/secrets";
import { createDomain, declareDomainVerified } from "#server/services/domains/write";
import { findRelay } from "#server/services/relays/read";
import { addRelay } from "#server/services/relays/write";
import type { DepsOptions } from "../support/deps";
import type { Call, FakeProvider } from "../support/providers";
import type { Reply } from "../support/rest";
import { createWorld, type TestTeam, type World } from "../support/world";

/** A mail that a relay took: its id, its address, and what its provider calls it. */
export type Sent = { id: string; address: string; providerId: string; messageId: string };

/** A Posthorn whose first team sends from `example.org` by relays, and its providers' calls. */
export async function openCallbackDesk(options: DepsOptions = {}) {
  const world: World = await createWorld({ transportKind: "relay", ...options });
  const { token } = await world.key();
  await createDomain(world.ctx, { name: "example.org" });
  await declareDomainVerified(world.ctx, "example.org");
  const { hot } = world.deps;

  /** A relay of a provider's, for everybody unless for a team, whose calls are heard. */
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

  /** A mail as it stands when that relay took it, in one transaction for all its recipients. */
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

  return {
    world,
    relayOf,
    sent,
    post: async (relayId: string, call: Call): Promise<Reply> => {
      const once = () => world.api("POST", callbackPathOf(relayId), call);
      // A kept connection may close in the moment in which it is used again: every client tries another then.
      return once().catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ECONNRESET" && error.code !== "EPIPE") throw error;
        return once();
      });
    },
    email: async (id: string) => (await world.api("GET", `/api/emails/${id}`, { token })).body,
    statusOf: async (id: string) => (await world.api("GET", `/api/emails/${id}`, { token })).body.status,
    eventsOf: async (id: string): Promise<string[]> => {
      const { body } = await world.api("GET", `/api/emails/${id}`, { token });
      return (body.events as { type: string }[]).map(({ type }) => type);
    },
    /** With which origin an address is suppressed; null where it is not. */
    suppressed: async (address: string): Promise<unknown> => {
      const { status, body } = await world.api("GET", `/api/suppressions/${address}`, { token });
      return status === 404 ? null : body.origin;
    },
    close: () => world.close(),
  };
}
