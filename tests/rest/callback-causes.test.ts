import { expect, test } from "vitest";
import {
  type FakeProvider,
  fakeMailgun,
  fakePostmark,
  fakeResend,
  fakeSendgrid,
} from "../support/servers/providers";
import { fakeBrevo } from "../support/servers/table-providers";
import { openCallbackApp, type Sent } from "./callback-app";

const app = await openCallbackApp();
const now = () => app.world.clock.now();
const { token } = await app.world.key();

const sendgrid = fakeSendgrid();
const sendgridRelay = await app.relayOf(sendgrid);

/** Posts one event of SendGrid about a sent email. */
async function report({ providerId, address }: Sent, change: object) {
  const [, event = {}] = sendgrid.report({ kind: "bounced", providerId, address }) as object[];
  const { reason: _, status: __, ...common } = event as Record<string, unknown>;
  return (await app.post(sendgridRelay, sendgrid.call([{ ...common, type: undefined, ...change }], now())))
    .body;
}
const reasonOf = async (sent: Sent) => {
  const [recipient] = (await app.email(sent.id)).recipients as { reason: string }[];
  return recipient?.reason;
};

test.each([
  ["Bounced Address", "bounce"],
  ["Spam Reporting Address", "complaint"],
  ["Unsubscribed Address", "unsubscribe"],
])("an address on the provider's suppression list as %s is suppressed here, too", async (reason, origin) => {
  const sent = await app.sent(sendgridRelay, sendgrid);
  expect(await report(sent, { event: "dropped", reason })).toMatchObject({ recorded: 1 });
  expect(await app.statusOf(sent.id)).toBe("bounced");
  expect(await app.suppressed(sent.address)).toBe(origin);
  const explained = await reasonOf(sent);
  expect(explained).toContain("SendGrid did not send the email: the address is on its suppression list");
  expect(explained).toContain(`(${reason})`);
});

test("a limit of the sending account is a failure with this reason, and no bounce", async () => {
  const sent = await app.sent(sendgridRelay, sendgrid);
  const dropped = { event: "dropped", reason: "Maximum credits exceeded" };
  expect(await report(sent, dropped)).toMatchObject({ recorded: 1 });
  expect(await app.email(sent.id)).toMatchObject({ status: "failed", last_event: "failed" });
  expect(await app.eventsOf(sent.id)).not.toContain("email.bounced");
  expect(await reasonOf(sent)).toContain("for a reason of the sending account (Maximum credits exceeded)");
  expect(await app.suppressed(sent.address)).toBeNull();
  // A delivery that is reported later is the better evidence.
  expect(await report(sent, { event: "delivered", response: "250 OK" })).toMatchObject({ recorded: 1 });
  expect(await app.statusOf(sent.id)).toBe("delivered");
  expect(await report(sent, { ...dropped, sg_event_id: "again" })).toMatchObject({
    ignored: [{ reason: "outranked" }],
  });
});

test.each([
  ["550 Rejected", "bounce", "bounce"],
  ["550 Rejected", "blocked", null],
  ["552 5.2.2 Mailbox full", "bounce", null],
  ["550 5.7.1 Listed by a block list", "bounce", null],
])("a permanent failure with %j of the type %s suppresses as %s", async (reason, type, origin) => {
  const sent = await app.sent(sendgridRelay, sendgrid);
  expect(await report(sent, { event: "bounce", reason, type })).toMatchObject({ recorded: 1 });
  expect(await app.statusOf(sent.id)).toBe("bounced");
  expect(await app.suppressed(sent.address)).toBe(origin);
  if (origin) expect(await reasonOf(sent)).toContain("SendGrid reports it as a permanent failure");
});

test("an address that Postmark deactivated is suppressed, whatever its server replied", async () => {
  const postmark = fakePostmark();
  const relayId = await app.relayOf(postmark);
  for (const Inactive of [true, false]) {
    const sent = await app.sent(relayId, postmark);
    const said = "550 5.7.1 Blocked";
    const bounce = postmark.report({ kind: "bounced", ...sent, said });
    await app.post(relayId, postmark.call({ ...(bounce as object), Inactive }, now()));
    expect(await app.suppressed(sent.address)).toBe(Inactive ? "bounce" : null);
    if (Inactive) expect(await reasonOf(sent)).toContain("Postmark sends no more email to it.");
  }
});

test("a listed address of an email that is only known by its Message-ID is not suppressed", async () => {
  const sent = await app.sent(sendgridRelay, sendgrid);
  for (const reason of ["Bounced Address", "Unsubscribed Address"])
    await report(sent, { event: "dropped", reason, sg_message_id: "x", "smtp-id": `<${sent.messageId}>` });
  await report(sent, { event: "unsubscribe", sg_message_id: "x", "smtp-id": `<${sent.messageId}>` });
  expect(await app.statusOf(sent.id)).toBe("bounced");
  expect(await app.suppressed(sent.address)).toBeNull();
});

test("an unsubscribe at the provider blocks email with a link, from then on", async () => {
  const sent = await app.sent(sendgridRelay, sendgrid);
  const unsubscribe = { event: "group_unsubscribe", asm_group_id: 10 };
  expect(await report(sent, unsubscribe)).toMatchObject({ recorded: 1 });
  expect(await report(sent, unsubscribe)).toMatchObject({ recorded: 0, ignored: [{ reason: "repeated" }] });
  const entry = async () => (await app.world.api("GET", `/api/suppressions/${sent.address}`, { token })).body;
  expect(await entry()).toMatchObject({ origin: "unsubscribe", lists_only: true, lists: null });
  expect(await app.statusOf(sent.id)).toBe("sent");
  await report(sent, { event: "group_resubscribe", asm_group_id: 10 });
  expect(await entry()).toMatchObject({ origin: "unsubscribe" });
});

test("an unsubscribe from the list of the email blocks this list, any other all lists", async () => {
  const postmark = fakePostmark();
  const relayId = await app.relayOf(postmark);
  for (const [MessageStream, lists] of [
    ["news", ["news"]],
    ["outbound", null],
  ] as const) {
    const sent = await app.sent(relayId, postmark);
    await app.world.hot`update emails set list_name = 'news' where id = ${sent.id}`;
    const change = {
      RecordType: "SubscriptionChange",
      MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
      MessageStream,
      ChangedAt: "2020-02-01T10:53:34.416071Z",
      Recipient: sent.address,
      Origin: "Recipient",
      SuppressSending: true,
      SuppressionReason: "ManualSuppression",
      Metadata: { backstamp: sent.providerId },
    };
    const { body } = await app.post(relayId, postmark.call(change, now()));
    expect(body).toMatchObject({ recorded: 1 });
    const entry = (await app.world.api("GET", `/api/suppressions/${sent.address}`, { token })).body;
    expect(entry).toMatchObject({ origin: "unsubscribe", lists_only: true, lists });
  }
});

test("a provider's report never removes or weakens a suppression with another cause", async () => {
  const sent = await app.sent(sendgridRelay, sendgrid);
  await app.world.api("POST", "/api/suppressions", { token, body: { email: sent.address } });
  await report(sent, { event: "unsubscribe" });
  await report(sent, { event: "group_resubscribe" });
  expect(await app.suppressed(sent.address)).toBe("manual");
});

type Fields = Record<string, Record<string, unknown>>;
const ofMailgun = (change: object) => (body: Fields) => ({
  "event-data": { ...body["event-data"], ...change },
});

test.each<[what: string, make: () => FakeProvider, change: (body: Fields) => object, origin: string]>([
  ["Mailgun with 605", fakeMailgun, ofMailgun({ "delivery-status": { code: 605 } }), "bounce"],
  ["Mailgun with 606", fakeMailgun, ofMailgun({ "delivery-status": { code: 606 } }), "unsubscribe"],
  ["Mailgun with 607", fakeMailgun, ofMailgun({ "delivery-status": { code: 607 } }), "complaint"],
  ["Resend as suppressed", fakeResend, (body) => ({ ...body, type: "email.suppressed" }), "bounce"],
  [
    "Brevo as blocked",
    fakeBrevo,
    (body) => ({ ...body, event: "blocked", reason: "blacklist user" }),
    "bounce",
  ],
])("an email that %s did not send suppresses the address", async (_, make, change, origin) => {
  const fake = make();
  const relayId = await app.relayOf(fake);
  const sent = await app.sent(relayId, fake);
  const body = change(fake.report({ kind: "bounced", ...sent }) as Fields);
  expect((await app.post(relayId, fake.call(body, now()))).body).toMatchObject({ recorded: 1 });
  expect(await app.statusOf(sent.id)).toBe("bounced");
  expect(await app.suppressed(sent.address)).toBe(origin);
  expect(await reasonOf(sent)).toContain("did not send the email: the address is on its suppression list");
});

test("a rejection by Mailgun itself is a failure, although it names the recipient only in a header", async () => {
  const mailgun = fakeMailgun();
  const relayId = await app.relayOf(mailgun);
  const sent = await app.sent(relayId, mailgun);
  const message = { headers: { "message-id": sent.providerId, to: `Ben <${sent.address}>` } };
  const reject = { reason: "Sandbox subdomains are for test purposes only." };
  const event = { event: "rejected", id: "a1", timestamp: 1529704976.1, reject, message };
  await app.post(relayId, mailgun.call({ "event-data": event }, now()));
  expect(await app.statusOf(sent.id)).toBe("failed");
  expect(await app.suppressed(sent.address)).toBeNull();
});
