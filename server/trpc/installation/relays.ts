import type { inferRouterOutputs } from "@trpc/server";
import { z } from "zod";
import { RELAY_PROVIDERS } from "#db/schema/relays";
import { reasonCharsMax } from "#server/services/pauses/reason";
import { findDomainOfTeam, findScope } from "#server/services/pauses/scope";
import { testRelay } from "#server/services/relays/connect";
import { findRelay, listRelays, type RelayView } from "#server/services/relays/read";
import { addRelay, endRelayPause, pauseRelay, removeRelay } from "#server/services/relays/write";
import { asOperator, router } from "../init";
import { NoInput } from "../strict";

/** The page waits for the test. A server that needs longer is too slow to send through. */
const testMs = 15_000;
const urlCharsMax = 2_000;

const RelayId = z.strictObject({ id: z.uuid() });
const AddInput = z.strictObject({
  name: z.string().trim().min(1, "Enter a name.").max(100, "Enter a name of at most 100 characters."),
  url: z.string().trim().min(1, "Enter the URL of the relay.").max(urlCharsMax),
  /** By id or name. Null: for all teams. */
  team: z.string().trim().max(100).nullable(),
  /** Only for email from this domain of the team; null for all its email. */
  domain: z.string().trim().max(253).nullable(),
  provider: z.enum(RELAY_PROVIDERS).nullable().optional(),
  dkim: z.boolean().optional(),
});

const viewRelay = ({ pausedUntil, lastFaultAt, createdAt, callbackTopic: _, ...relay }: RelayView) => ({
  ...relay,
  pausedUntil: pausedUntil?.toISOString() ?? null,
  lastFaultAt: lastFaultAt?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
});

/** The relays of the installation, of all teams and of all domains. */
export const relaysRouter = router({
  /**
   * The shared relays first, then those of teams, each scope in the order in which they are tried.
   * `transport`: how email without a relay is sent.
   */
  list: asOperator.input(NoInput).query(async ({ ctx: { operator } }) => ({
    transport: operator.transportKind,
    rows: (await listRelays(operator)).map(viewRelay),
  })),
  add: asOperator
    .input(AddInput)
    .mutation(async ({ ctx: { operator }, input: { name, url, provider, dkim, ...given } }) => {
      const { teamId, domain } = await findScope(operator, given);
      const domainId = domain === null ? null : await findDomainOfTeam(operator, { teamId, domain });
      const relay = await addRelay(operator, {
        name,
        url,
        teamId,
        domainId,
        ...(provider !== undefined && { provider }),
        ...(dkim !== undefined && { dkim }),
      });
      operator.log.warn("relay.added_by_operator", { relayId: relay.id, relay: name, ...operator.actor });
      return viewRelay(relay);
    }),
  /** Connects and logs in, without sending an email. */
  test: asOperator
    .input(RelayId)
    .mutation(({ ctx: { operator }, input }) => testRelay(operator, input.id, testMs)),
  pause: asOperator
    .input(z.strictObject({ id: z.uuid(), reason: z.string().max(2 * reasonCharsMax) }))
    .mutation(async ({ ctx: { operator }, input: { id, reason } }) =>
      pauseRelay(operator, await findRelay(operator, id), reason),
    ),
  resume: asOperator
    .input(RelayId)
    .mutation(async ({ ctx: { operator }, input: { id } }) =>
      endRelayPause(operator, await findRelay(operator, id)),
    ),
  remove: asOperator.input(RelayId).mutation(async ({ ctx: { operator }, input: { id } }) => {
    const relay = await findRelay(operator, id);
    await removeRelay(operator, relay);
    operator.log.warn("relay.removed_by_operator", { relayId: id, relay: relay.name, ...operator.actor });
  }),
});

type Relays = inferRouterOutputs<typeof relaysRouter>["list"];
export type Transport = Relays["transport"];
export type RelayRow = Relays["rows"][number];
