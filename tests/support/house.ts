import { type Database, openDatabase } from "#db/client";
import { createWaker } from "#db/notify";
import { createCapture } from "#server/delivery/attempt/capture";
import type { Ctx, Deps, WorkerDeps } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { createQueryDns, createResolvers } from "#server/mail/dns/dns";
import { createTextConverter } from "#server/mail/mime/html-text";
import type { Transport } from "#server/mail/transport/transport";
import { createOutside } from "#server/platform/egress/outside";
import { silentLog } from "#server/platform/log";
import { createRecipientTokens } from "#server/platform/secrets/recipient-tokens";
import { createSignedLinks } from "#server/platform/secrets/signed-links";
import { createVault } from "#server/platform/secrets/vault";
import { addDomain } from "#server/services/domains/write";
import { createAcceptor } from "#server/services/emails/accept/acceptor";
import { type NewEmail, sendEmail } from "#server/services/emails/accept/send";
import { type Email, getEmail } from "#server/services/emails/read/read";
import { createTeam } from "#server/services/teams";
import { NO_DNS, NO_NAMES } from "./deps";
import { freshDatabase } from "./postgres";

/** A whole Backstamp without its doors: a database of its own, a team, and a verified domain `example.org`. */
export type House = Awaited<ReturnType<typeof openHouse>>;

/** What its vault and its links are made of, for processes that are to open them. */
export const houseSecret = "the secret of a house in a test, long enough for one";

const mailbox = (text: string) => {
  const read = parseMailbox(text);
  if (!read.ok) throw new Error(read.fault);
  return read.mailbox;
};

export async function openHouse(
  options: { transportKind?: Deps["transportKind"]; names?: Deps["names"] } = {},
) {
  const place = await freshDatabase();
  const database: Database = openDatabase(place.url, { connectionsMax: 12 });
  const textMaker = createTextConverter({ log: silentLog });
  const outside = createOutside({ allow: ["127.0.0.0/8"] });
  const deps: Deps = {
    db: database.db,
    hot: database.hot,
    accept: createAcceptor(database.hot),
    transportKind: options.transportKind ?? "capture",
    outside,
    dns: createQueryDns(NO_DNS),
    resolvers: createResolvers(NO_DNS),
    convertToText: textMaker.convertToText,
    names: options.names ?? NO_NAMES,
    home: { url: "https://mail.example.org", sender: "backstamp@mail.example.org" },
    vault: createVault(houseSecret),
    recipientTokens: createRecipientTokens(houseSecret, "https://mail.example.com"),
    links: createSignedLinks(houseSecret, "https://mail.example.com"),
    clock: () => new Date(),
    log: silentLog,
    wake: createWaker(database.hot),
    clearKeyCache: () => {},
  };
  const team = await createTeam(deps, { name: "First" });
  const ctx: Ctx = { ...deps, teamId: team.id, actor: { kind: "operator" }, requestId: "test" };
  await addDomain(ctx, { name: "example.org", verified: true });
  const { hot } = database;

  return {
    url: place.url,
    deps,
    ctx,
    hot,
    withTransport: (transport: Transport | null = createCapture(hot)): WorkerDeps => ({ ...deps, transport }),
    /** Sends for the first team, or for whoever `by` says. */
    send: (mail: Partial<Omit<NewEmail, "to">> & { to?: string[]; sender?: string } = {}, by: Ctx = ctx) =>
      sendEmail(by, {
        cc: [],
        bcc: [],
        replyTo: [],
        subject: "Hello",
        html: "<p>Hello</p>",
        text: null,
        headers: [],
        tags: [],
        template: null,
        attachments: [],
        scheduledAt: null,
        ...mail,
        from: mailbox(mail.sender ?? "Ann <ann@example.org>"),
        to: (mail.to ?? ["ben@example.net"]).map(mailbox),
      }),
    email: (id: string): Promise<Email> => getEmail(ctx, id),
    /** Moves time for everything that waits, by shifting its rows into the past. */
    elapse: async (ms: number) => {
      await hot`update deliveries set due_at = due_at - ${ms} * interval '1 ms' where due_at <> 'infinity'`;
      await hot`update deliveries set leased_until = leased_until - ${ms} * interval '1 ms'`;
      await hot`update idempotency_keys set expires_at = expires_at - ${ms} * interval '1 ms'`;
      await hot`update relays set paused_until = paused_until - ${ms} * interval '1 ms'`;
      await hot`update workers set beat_at = beat_at - ${ms} * interval '1 ms'`;
    },
    close: async () => {
      await textMaker.close();
      await outside.close();
      await database.close();
      await place.drop();
    },
  };
}
