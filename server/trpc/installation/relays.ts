import type { inferRouterOutputs } from "@trpc/server";
import { z } from "zod";
import { RELAY_PROVIDERS } from "#db/schema/relays";
import type { Deps } from "#server/deps";
import { CONNECTIONS_MAX, parseSmtpHost } from "#server/mail/transport/smtp-url";
import { reasonCharsMax } from "#server/services/pauses/reason";
import { findDomainOfTeam, findScope } from "#server/services/pauses/scope";
import { testRelay } from "#server/services/relays/connect";
import { getRelayConnection, urlOfChange, urlOfConnection } from "#server/services/relays/connection";
import { findRelay, listRelays, type RelayView } from "#server/services/relays/read";
import { addRelay, endRelayPause, pauseRelay, removeRelay, updateRelay } from "#server/services/relays/write";
import { withIsoTimes } from "#server/shared/wire/shapes";
import { asOperator, NoInput, router } from "../init";

/** The page waits for the test. A server that needs longer is too slow to send through. */
const testMs = 15_000;

const RelayId = z.strictObject({ id: z.uuid() });

const HOST = "Enter the host alone, such as smtp.example.com.";
const Host = z
  .string()
  .trim()
  .max(253, HOST)
  .transform((text, check) => {
    const host = parseSmtpHost(text);
    if (host === null) check.addIssue({ code: "custom", message: HOST });
    return host ?? text;
  });
/** An empty `password`: no login, or the stored one. `verify`: the certificate must be valid. */
const Connection = {
  name: z.string().trim().min(1, "Enter a name.").max(100, "Enter a name of at most 100 characters."),
  host: Host,
  port: z
    .int("Enter a port.")
    .min(1, "Enter a port from 1 to 65535.")
    .max(65_535, "Enter a port from 1 to 65535."),
  tls: z.enum(["required", "implicit", "opportunistic"]),
  verify: z.boolean(),
  user: z.string().trim().max(500),
  password: z.string().max(1_000),
  connectionsMax: z
    .int("Enter a number of connections.")
    .min(1, "Enter at least 1 connection.")
    .max(CONNECTIONS_MAX, `Enter at most ${CONNECTIONS_MAX} connections.`),
};
const AddInput = z.strictObject({
  ...Connection,
  /** By id or name. Null: for all teams. */
  team: z.string().trim().max(100).nullable(),
  /** Only for email from this domain of the team; null for all its email. */
  domain: z.string().trim().max(253).nullable(),
  provider: z.enum(RELAY_PROVIDERS).nullable().optional(),
  dkim: z.boolean().optional(),
});

const UpdateInput = z.strictObject({
  ...Connection,
  id: z.uuid(),
  position: z
    .int("Enter a position.")
    .min(1, "Enter a position from 1 to 1000.")
    .max(1_000, "Enter a position from 1 to 1000."),
});

const viewRelay = ({ callbackTopic: _, ...relay }: RelayView) => withIsoTimes(relay);

async function viewTested(operator: Deps, id: string) {
  const { fault } = await testRelay(operator, id, testMs);
  return { relay: viewRelay(await findRelay(operator, id)), fault };
}

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
  /** How a relay is connected to, without its password. */
  connection: asOperator
    .input(RelayId)
    .query(({ ctx: { operator }, input }) => getRelayConnection(operator, input.id)),
  /** Adds a relay and tests it. It carries email after a successful test. */
  add: asOperator
    .input(AddInput)
    .mutation(async ({ ctx: { operator }, input: { name, team, domain: of, provider, dkim, ...given } }) => {
      const url = urlOfConnection(given);
      const { teamId, domain } = await findScope(operator, { team, domain: of });
      const domainId = domain === null ? null : await findDomainOfTeam(operator, { teamId, domain });
      const relay = await addRelay(operator, { name, url, teamId, domainId, provider, dkim });
      operator.log.warn("relay.added_by_operator", { relayId: relay.id, relay: name, ...operator.actor });
      return viewTested(operator, relay.id);
    }),
  /** Changes a relay. With a changed connection it is tested, and carries email after a successful test. */
  update: asOperator
    .input(UpdateInput)
    .mutation(async ({ ctx: { operator }, input: { id, name, position, ...given } }) => {
      const relay = await findRelay(operator, id);
      const url = await urlOfChange(operator, id, given);
      await updateRelay(operator, relay, { name, position, ...(url !== null && { url }) });
      operator.log.warn("relay.changed_by_operator", { relayId: id, relay: name, ...operator.actor });
      if (url !== null) return viewTested(operator, id);
      return { relay: viewRelay(await findRelay(operator, id)), fault: null };
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
