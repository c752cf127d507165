import postgres from "postgres";
import { vi } from "vitest";
import { freshDatabase } from "../../support/database/postgres";
import { startHttpSink } from "../../support/servers/http-sink";
import { startSmtpTestServer } from "../../support/servers/smtp-test-server";
import { startBackstamp } from "../backstamp";

const waitOptions = { timeout: 120_000, interval: 200 };
/** The size limits that the mail server announces, and a body above the first one. */
const sizesBytes = { atFirst: 20_000, repaired: 50_000_000 };
const longBody = `<p>${"The full order with all its lines. ".repeat(900)}</p>`;

const REPLIES = [
  { to: "gone", reply: "550 5.1.1 The email account that you tried to reach does not exist" },
  { to: "slow", reply: "451 4.7.1 Greylisted, please try again later" },
];

/**
 * The recipient who bounced last, so that the overview lists it, and one whose email is far down the list.
 */
export const BOUNCED = "gone.nora@customers.example";
export const DISTANT = "reader-7@customers.example";
export const TEMPLATE_HTML = "<h1>Thank you</h1><p>Your order has left our workshop.</p>";

/** A running installation with a realistic team, and direct access to its servers and database. */
export type TaskTeam = Awaited<ReturnType<typeof startTaskTeam>>;

/** Starts Backstamp with the team that `fillTaskTeam` makes. */
export async function startTaskTeam() {
  const installation = await startInstallation();
  try {
    return { ...installation, ...(await fillTaskTeam(installation)) };
  } catch (error) {
    await installation.stop();
    throw error;
  }
}

type Installation = Awaited<ReturnType<typeof startInstallation>>;

/** Starts Backstamp with a database, a mail server and a receiver of webhooks. */
async function startInstallation() {
  let sizeMaxBytes = sizesBytes.atFirst;
  let crmReply = 503;
  const mailServer = await startSmtpTestServer({
    ehlo: () => `250-peer.test\r\n250-8BITMIME\r\n250 SIZE ${sizeMaxBytes}`,
    rcpt: ({ address }) => REPLIES.find(({ to }) => address.startsWith(to))?.reply ?? "250 2.1.5 ok",
  });
  const receiver = await startHttpSink(({ path: target }) => (target === "/crm" ? crmReply : 204));
  const database = await freshDatabase();
  const stopServers = async () => {
    await database.drop();
    await mailServer.close();
    await receiver.close();
  };
  const backstamp = await startBackstamp({
    DATABASE_URL: database.url,
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
  }).catch(async (error) => {
    await stopServers();
    throw error;
  });
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const made = await backstamp.operate(
    ...["key", "create", "--name", "Administration", "--scopes", "full_access", "--domains", "all", "--json"],
  );
  const { token } = JSON.parse(made);
  return {
    ...backstamp,
    sql,
    receiver,
    mailServer,
    /** Calls the REST API with a key for everything. */
    api: (method: string, target: string, body?: unknown) => backstamp.api(method, target, body, token),
    /** From now on the mail server accepts large messages. */
    repairMailServer: (): void => {
      sizeMaxBytes = sizesBytes.repaired;
      mailServer.dropAll();
    },
    repairReceiver: (): void => {
      crmReply = 204;
    },
    stop: async () => {
      await sql.end();
      await backstamp.stop();
      await stopServers();
    },
  };
}

/**
 * Makes a team of about 400 emails in most statuses, five domains, five keys, a template with two versions,
 * suppressions, a second member and two webhooks. One of them was down earlier, so it has failed event
 * deliveries behind many later ones. Emails above the size limit of the mail server failed today, and some
 * failed two days ago.
 */
async function fillTaskTeam({ api, operate, sql, receiver, repairReceiver }: Installation) {
  for (const name of ["alder-oak.example", "news.alder-oak.example", "shop.alder-oak.example"])
    await operate("domain", "add", name, "--verified");
  await api("POST", "/domains", { name: "mail.elm-ash.example" });
  for (const name of ["Shop, production", "Newsletter", "Support desk"])
    await api("POST", "/api-keys", { name, permission: "sending_access" });
  for (const n of [1, 2, 3]) await api("POST", "/suppressions", { email: `former-${n}@customers.example` });
  const [team] = await sql<{ id: string }[]>`select id from teams order by created_at limit 1`;
  await operate(
    ...["user", "create", "ben@alder-oak.example", "--password", "a staple for the battery"],
    ...["--team", team?.id ?? "", "--role", "member"],
  );

  const events = ["email.sent", "email.bounced", "email.failed"];
  await api("POST", "/webhooks", { endpoint: `http://127.0.0.1:${receiver.port}/orders`, events });
  const { id: webhook } = await api("POST", "/webhooks", {
    endpoint: `http://127.0.0.1:${receiver.port}/crm`,
    events,
  });
  const { id: template } = await api("POST", "/templates", {
    name: "Order receipt",
    alias: "order-receipt",
    from: "Alder & Oak <shop@alder-oak.example>",
    subject: "Your order",
    html: "<h1>Thanks</h1>",
  });
  await api("POST", `/templates/${template}/publish`, {});
  await api("PATCH", `/templates/${template}`, { html: TEMPLATE_HTML });
  await api("POST", `/templates/${template}/publish`, {});

  const sendAll = (emails: readonly { to: string; subject: string; html?: string }[]) =>
    api(
      "POST",
      "/emails/batch",
      emails.map((email) => ({ from: "Shop <shop@alder-oak.example>", html: "<p>Hello</p>", ...email })),
    );
  const settled = () =>
    vi.waitFor(async () => {
      const [row] = await sql<{ open: number }[]>`select (
        select count(*)::int from deliveries
        where status = 'sending' or status = 'queued' and attempts = 0
      ) + (
        select count(*)::int from webhook_deliveries where status = 'attempting' or attempts = 0
      ) as open`;
      if (row?.open !== 0) throw new Error(`${row?.open} deliveries have no result yet`);
    }, waitOptions);

  // The endpoint was down, was paused and is enabled again. What failed then can be replayed.
  await sendAll(many(4, (n) => ({ to: `early-${n}@customers.example`, subject: `Order ${n} received` })));
  await settled();
  await api("PATCH", `/webhooks/${webhook}`, { status: "disabled" });
  await vi.waitFor(async () => {
    const [row] = await sql<{ failed: number }[]>`select count(*)::int as failed from webhook_deliveries
      where webhook_id = ${webhook} and status = 'failed'`;
    if (row?.failed !== 4) throw new Error(`${row?.failed} of 4 event deliveries failed`);
  }, waitOptions);
  await api("PATCH", `/webhooks/${webhook}`, { status: "enabled" });
  repairReceiver();
  for (const part of [0, 1, 2])
    await sendAll(
      many(100, (n) => ({
        to: `reader-${part * 100 + n}@customers.example`,
        subject: `News for you, number ${part * 100 + n}`,
      })),
    );
  await sendAll(
    many(20, (n) => ({ to: `large-${n}@customers.example`, subject: `Order list ${n}`, html: longBody })),
  );
  await settled();
  await sql.begin(async (tx) => backdate(tx));
  await sendAll(
    many(20, (n) => ({ to: `large-${20 + n}@customers.example`, subject: `Today ${n}`, html: longBody })),
  );
  await sendAll(many(10, (n) => ({ to: `slow-${n}@customers.example`, subject: `Invoice ${n}` })));
  await sendAll(many(12, (n) => ({ to: `gone-${n}@customers.example`, subject: `Reminder ${n}` })));
  await sendAll(many(30, (n) => ({ to: `late-${n}@customers.example`, subject: `Order ${n} shipped` })));
  await settled();
  await sendAll([{ to: BOUNCED, subject: "Please confirm your address" }]);
  await settled();

  return { webhook, template };
}

const many = <Each>(count: number, each: (n: number) => Each): Each[] =>
  Array.from({ length: count }, (_, n) => each(n));

/** Copies each failed email of today to two days ago, with its content, and removes the one of today. */
async function backdate(tx: postgres.TransactionSql): Promise<void> {
  await tx`create temp table earlier on commit drop as
    select id, now() - interval '2 days' as at, (lpad(to_hex(
        (extract(epoch from now() - interval '2 days') * 1000)::bigint + row_number() over (order by id)), 12, '0')
      || substr(replace(id::text, '-', ''), 13))::uuid as earlier_id
    from emails where status = 'failed'`;
  await tx`insert into emails select (jsonb_populate_record(e,
      jsonb_build_object('id', r.earlier_id, 'created_at', r.at))).* from emails e join earlier r on r.id = e.id`;
  await tx`insert into email_bodies select (jsonb_populate_record(b,
      jsonb_build_object('email_id', r.earlier_id))).* from email_bodies b join earlier r on r.id = b.email_id`;
  await tx`insert into deliveries select (jsonb_populate_record(d,
      jsonb_build_object('email_id', r.earlier_id, 'updated_at', r.at))).* from deliveries d join earlier r on r.id = d.email_id`;
  await tx`delete from emails e using earlier r where e.id = r.id`;
}
