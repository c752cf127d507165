import PostalMime from "postal-mime";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startSubmission } from "#server/submission/listener";
import { idIn, submit } from "../submission/client";
import { deliverDue } from "../support/pump-engine";
import { rejected } from "../support/rejected";
import { transportTo } from "../support/relays";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openWorld } from "../support/world";

const names = { mailHost: null, returnPathDomain: null, webHost: null };
const world = await openWorld({ transportKind: "relay", names });
const { token } = await world.key();
const server = await startSmtpTestServer();
const transport = transportTo(server);
const listener = await startSubmission(world.deps, {
  host: "127.0.0.1",
  port: 0,
  name: "mail.example.com",
  certificate: null,
  isImplicitTls: false,
});
afterAll(async () => {
  await listener.close();
  await transport.close();
  await server.close();
});
beforeEach(() => {
  server.messages.length = 0;
});

const send = (more: object, query = "") =>
  world.api("POST", `/api/emails${query}`, {
    token,
    body: { from: "ann@example.org", to: ["ben@example.net"], subject: "News", ...more },
  });

/** What each recipient receives, by address: the bodies and the link of the header. */
async function deliver() {
  await deliverDue({ ...world.deps, names, transport });
  const copies = new Map<string, { html: string; text: string; link: string | undefined }>();
  for (const { to, bytes } of server.messages) {
    const { html = "", text = "", headers } = await PostalMime.parse(bytes);
    const header = headers.find(({ key }) => key === "list-unsubscribe")?.value;
    copies.set(to.join(), { html, text: text.trim(), link: header?.slice(1, -1) });
  }
  return copies;
}

async function copyOf(more: object) {
  const { status, body } = await send(more);
  expect({ status, body }).toMatchObject({ status: 200 });
  const [copy] = (await deliver()).values();
  if (!copy?.link) throw new Error("no copy with an unsubscribe link");
  return { ...copy, link: copy.link };
}

const SCHEMES: [product: string, tag: string][] = [
  ["Backstamp", "{{UNSUBSCRIBE_URL}}"],
  ["Backstamp, with spaces", "{{ UNSUBSCRIBE_URL }}"],
  ["Resend", "{{{RESEND_UNSUBSCRIBE_URL}}}"],
  ["SendGrid", "<%asm_group_unsubscribe_raw_url%>"],
  ["SendGrid, all groups", "<% asm_preferences_raw_url %>"],
  ["SendGrid, designs", "[Unsubscribe]"],
  ["Postmark", "{{{ pm:unsubscribe }}}"],
  ["Postmark, address only", "{{{pm:unsubscribe_url}}}"],
  ["Mailgun", "%unsubscribe_url%"],
  ["Mailgun, tags", "%tag_unsubscribe_url%"],
  ["Mailgun, lists", "%mailing_list_unsubscribe_url%"],
  ["Amazon SES", "{{amazonSESUnsubscribeUrl}}"],
];

describe.each(SCHEMES)("the tag of %s", (_, tag) => {
  const html = `<p>News</p><a href="${tag}">Leave</a>`;

  test("becomes the recipient's link in HTML and the derived text, and adds the header", async () => {
    const { html: seen, text, link } = await copyOf({ html });
    expect(link).toMatch(/^https:\/\/mail\.example\.com\/api\/unsubscribe\//);
    expect(seen.trim()).toBe(`<p>News</p><a href="${link}">Leave</a>`);
    expect(text.replace(/\s+/g, " ")).toContain(`Leave [${link}]`);
  });

  test("works in a stored template", async () => {
    const template = { name: "News", subject: "News for {{name}}", html: `${html}{{name}}` };
    const saved = await world.api("POST", "/api/templates", { token, body: template });
    expect(saved).toMatchObject({ status: 201 });
    // It is neither a variable nor a tag of a foreign language.
    expect(saved.body.warnings).toBeUndefined();
    const { html: seen, link } = await copyOf({
      template: { id: saved.body.id, variables: { name: "Ben" } },
    });
    expect(seen).toContain(`href="${link}"`);
  });
});

test("each recipient gets their own link in both bodies, and clicks on it are not tracked", async () => {
  await world.domain("tracked.example");
  await world.hot`update domains set click_tracking = true, open_tracking = true where name = 'tracked.example'`;
  await send({
    from: "ann@tracked.example",
    to: ["a@example.net", "b@example.net"],
    html: '<a href="{{UNSUBSCRIBE_URL}}">Leave</a> <a href="https://example.org/">Shop</a>',
    text: "Leave: {{UNSUBSCRIBE_URL}}",
  });
  const copies = await deliver();
  expect(copies.size).toBe(2);
  for (const { html, text, link } of copies.values()) {
    expect(html).toContain(`<a href="${link}">Leave</a>`);
    expect(html).toContain("/api/clicks/");
    expect(text).toBe(`Leave: ${link}`);
  }
  expect(new Set([...copies.values()].map(({ link }) => link)).size).toBe(2);
});

test("tags that other products turn into a whole link become one", async () => {
  const html = "<p>{{{ pm:unsubscribe }}} or <%asm_group_unsubscribe_url%></p>";
  const { html: seen, link } = await copyOf({ html });
  const whole = `<a href="${link}">Unsubscribe</a>`;
  expect(seen.trim()).toBe(`<p>${whole} or ${whole}</p>`);
});

test("a message submitted over SMTP has the link in HTML and text", async () => {
  const part = (type: string, body: string) =>
    `--b\r\nContent-Type: ${type}; charset=utf-8\r\n\r\n${body}\r\n`;
  const { reply } = await submit(listener.port, token, {
    raw: `From: ann@example.org\r\nTo: ben@example.net\r\nSubject: News\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n${part("text/plain", "Grüße: %unsubscribe_url%")}${part("text/html", '<a href="%unsubscribe_url%">Leave</a>')}--b--\r\n`,
  });
  expect(idIn(reply)).toMatch(/^[0-9a-f-]{36}$/);
  const [copy] = (await deliver()).values();
  expect(copy).toMatchObject({ text: `Grüße: ${copy?.link}`, link: expect.stringContaining("https://") });
  expect(copy?.html).toContain(`<a href="${copy?.link}">Leave</a>`);
});

test("with `list_unsubscribe` false a tag is text, and a dry run warns of it", async () => {
  const email = { text: "Ann wrote: %unsubscribe_url%", list_unsubscribe: false };
  const { body } = await send(email, "?dry_run=true");
  expect(body.warnings).toEqual([expect.stringContaining("%unsubscribe_url% is sent as text")]);
  await send(email);
  const [copy] = (await deliver()).values();
  expect(copy).toMatchObject({ text: "Ann wrote: %unsubscribe_url%", link: undefined });
});

test("a tag in the value of a variable stays text and adds no link", async () => {
  const template = { name: "Comment", subject: "Comment", html: "<p>{{comment}}</p>" };
  const { body } = await world.api("POST", "/api/templates", { token, body: template });
  await send({ template: { id: body.id, variables: { comment: "%unsubscribe_url%" } } });
  const [copy] = (await deliver()).values();
  expect(copy?.html).toContain("<p>%unsubscribe_url%</p>");
  expect(copy?.link).toBeUndefined();
});

test("a tag beside the caller's own header, and one in a subject, are rejected", async () => {
  const headers = { "List-Unsubscribe": "<https://example.com/u>" };
  expect(await send({ text: "{{UNSUBSCRIBE_URL}}", headers })).toMatchObject(
    rejected(422, /\{\{UNSUBSCRIBE_URL\}\}.*List-Unsubscribe/),
  );
  const template = { name: "Odd", subject: "{{UNSUBSCRIBE_URL}}", html: "<p>x</p>" };
  expect(await world.api("POST", "/api/templates", { token, body: template })).toMatchObject(
    rejected(422, /subject.*body/),
  );
});

const POST = { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };
const VISIBLE = "Unsubscribe: https://example.com/u";

test.each<[what: string, email: object, warnings: RegExp[]]>([
  ["without List-Unsubscribe", { text: "Hi", headers: POST }, [/List-Unsubscribe-Post.*https/]],
  [
    "with a mailto link only",
    { text: "Hi", headers: { ...POST, "List-Unsubscribe": "<mailto:u@example.com>" } },
    [/List-Unsubscribe-Post.*https/],
  ],
  ["with https", { text: "Hi", headers: { ...POST, "list-unsubscribe": "<https://example.com/u>" } }, []],
  [
    "a list email without a visible link",
    { text: "Hi", list_unsubscribe: true },
    [/\{\{UNSUBSCRIBE_URL\}\}/],
  ],
  ["a list email with a link of its own", { text: VISIBLE, list_unsubscribe: true }, []],
  ["an ordinary email", { text: "Hi" }, []],
])("warnings of a dry run: %s", async (_, email, warnings) => {
  const { body } = await send(email, "?dry_run=true");
  expect(body.warnings).toEqual(warnings.map((warning) => expect.stringMatching(warning)));
});
