import { afterAll, beforeAll, expect, test } from "vitest";
import { startHttpSink } from "../support/servers/http-sink";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openSite } from "./backstamp";
import { signIn } from "./browser";
import { expectAsText, expectInert, foreignMarkupOn, settle, textsOn } from "./hostile-content";
import { inParts, numberIn, ONE_OF_EACH, PAYLOADS, type Payload } from "./payloads";

/*
 * One payload of each class in every text field of a team. React renders all of them in the same way; another
 * suite reads every payload as a subject.
 */

/** An email with payloads in every text field, and the payloads that each field accepted. */
type HostileEmail = {
  id: string;
  part: readonly Payload[];
  names: readonly string[];
  headers: readonly string[];
  files: readonly string[];
};

/** Whether an SMTP reply and an HTTP header can contain the payload. */
const isAscii = ({ text }: Payload) => /^[\x20-\x7e]+$/.test(text);
/** One payload of each class, in ASCII and on one line if the class has such a payload. */
const LINES = ONE_OF_EACH.map(
  (first) => PAYLOADS.find((payload) => payload.class === first.class && isAscii(payload)) ?? first,
);
/** Groups of payloads, one per email. */
const PARTS = inParts(LINES, 16);
const partOf = (number: number) =>
  PARTS.find((part) => part.some((payload) => payload.number === number)) ?? [];
const HOSTILE = { email: "hostile@backstamp.test", password: "a staple for the battery" } as const;
const TEAM = LINES[1]?.text ?? "";
const slowPage = { timeout: 60_000 };

let template: string;
const keys: string[] = [];
const templates: string[] = [];
const emails: HostileEmail[] = [];

const smtp = await startSmtpTestServer({
  rcpt: ({ address }) => {
    const payload = PAYLOADS.find(({ number }) => number === numberIn(address.replace("n", "n ")));
    return `550 5.1.1 ${payload && isAscii(payload) ? payload.text : "no such user"}`;
  },
});
// The endpoint responds to the event of an email with all payloads of that email.
const hooks = await startHttpSink(({ body }) => ({
  status: 500,
  headers: { "content-type": "text/html; charset=utf-8" },
  body: partOf(numberIn(JSON.parse(body).data.to[0].replace("n", "n ")) ?? 0)
    .map(({ text }) => text)
    .join("\n"),
}));
const { backstamp, profile, page } = await openSite(
  {
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
  },
  { userAgent: LINES.find((payload) => isAscii(payload) && payload.text.includes("onerror"))?.text ?? "" },
);
const team = JSON.parse(await backstamp.operate("team", "create", TEAM, "--json"));
const inTeam = ["--team", team.id];
await backstamp.operate("domain", "add", "example.org", "--verified", ...inTeam);
const made = await backstamp.operate(
  ...["key", "create", "--name", LINES[0]?.text ?? "", "--scopes", "full_access", "--json", ...inTeam],
  ...[
    "--domains",
    "example.org,backstamp.test",
    "--limit",
    "other=10000",
    "--limit",
    "POST /api/emails=10000",
  ],
  ...["--limit", "POST /api/templates=10000"],
);
const { token } = JSON.parse(made);
await backstamp.operate(
  ...["user", "create", HOSTILE.email, "--password", HOSTILE.password, "--role", "owner", ...inTeam],
);
const hook = { endpoint: `http://127.0.0.1:${hooks.port}/hook`, events: ["email.queued"] };
const webhook = (await backstamp.api("POST", "/webhooks", hook, token)).id;
beforeAll(async () => {
  for (const payload of LINES) await createNamed(payload);
  for (const part of PARTS) await sendHostile(part);
  // The request log stores the user agent.
  for (const { text } of LINES.filter(isAscii))
    await fetch(`${backstamp.url}/api/domains`, {
      headers: { authorization: `Bearer ${token}`, "user-agent": text },
    });
  await signIn(page, backstamp.url, HOSTILE.email, HOSTILE.password);
});
afterAll(async () => {
  await hooks?.close();
  await smtp?.close();
});

/** Creates keys and templates with a payload as their name. A rejection must be a validation error. */
async function createNamed({ text }: Payload): Promise<void> {
  const tryTo = (target: string, body: object) =>
    backstamp.api("POST", target, body, token).catch((error: Error) => {
      expect(error.message).toMatch(/ (422|400) /);
      return null;
    });
  if (await tryTo("/api-keys", { name: text, permission: "sending_access" })) keys.push(text);
  const made = await tryTo("/templates", { name: text, subject: "Hello", html: text });
  if (!made) return;
  templates.push(text);
  template = made.id;
}

/**
 * Sends one email with these payloads in all fields. A rejection must name the field, which is then left out.
 */
async function sendHostile(part: readonly Payload[]): Promise<void> {
  const texts = part.map(({ text }) => text);
  const names = [...texts];
  const files = [...texts];
  const headers = new Map(part.map(({ number, text }) => [`X-Hostile-${number}`, text]));
  for (;;) {
    const [name] = names;
    const body = {
      to: part.map(({ number }) => `n${number}@example.net`),
      from: name ? `"${name.replace(/["\\]/g, "\\$&")}" <shop@example.org>` : "shop@example.org",
      subject: texts[0],
      text: texts.join("\n\n"),
      html: texts[0],
      headers: Object.fromEntries(headers),
      attachments: files.map((filename) => ({ filename, content: "aGVsbG8=" })),
    };
    try {
      const { id } = await backstamp.api("POST", "/emails", body, token);
      emails.push({ id, part, names: names.slice(0, 1), headers: [...headers.values()], files });
      return;
    } catch (error) {
      const refused = String(error);
      const header = [...headers.keys()].find((each) => refused.includes(each));
      const [, file] = /`attachments\D+(\d+)/.exec(refused) ?? [];
      if (header) headers.delete(header);
      else if (file) files.splice(Number(file), 1);
      else if (name && refused.includes("`from")) names.shift();
      else throw error;
    }
  }
}

const countOf = (field: "names" | "headers" | "files") =>
  emails.reduce((sum, email) => sum + email[field].length, 0);

test("fields for free text accept hostile texts", () => {
  expect(keys.length).toBeGreaterThan(10);
  expect(templates.length).toBeGreaterThan(10);
  expect(countOf("names")).toBeGreaterThan(0);
  expect(countOf("headers")).toBeGreaterThan(LINES.length / 2);
  // File names must not contain paths, which excludes most payloads.
  expect(countOf("files")).toBeGreaterThan(0);
  expect(LINES.filter(isAscii).length).toBeGreaterThan(LINES.length / 2);
});

test("the email page displays sender name, headers, files and SMTP replies verbatim", async () => {
  for (const { id, part, names, headers, files } of emails) {
    await page.goto(`${backstamp.url}/console/emails/${id}`);
    const replies = part.filter(isAscii).map(({ text }) => `550 5.1.1 ${text}`);
    await expectAsText(page, [part[0]?.text ?? "", ...names, ...replies]);
    if (files.length > 0) {
      await page.getByRole("tab", { name: /^Files/ }).click();
      await expectAsText(page, files);
    }
    await page.getByRole("tab", { name: "Headers" }).click();
    await expectAsText(page, headers);
    await page.getByRole("tab", { name: "Text" }).click();
    await expectAsText(page, [part.at(-1)?.text ?? ""]);
    await page.getByRole("tab", { name: "Source" }).click();
    await expectAsText(page, ["MIME-Version"]);
  }
  await settle(page);
  expectInert(profile, 1);
});

test("names of keys, templates and the team are plain text in their lists", async () => {
  await page.goto(`${backstamp.url}/console/keys`);
  await expectAsText(page, [...keys.slice(-20), TEAM]);
  await page.goto(`${backstamp.url}/console/templates`);
  await expectAsText(page, templates.slice(-20));
  await page.goto(`${backstamp.url}/console/activity`);
  await expectAsText(page, keys.slice(-3));
  await settle(page);
  expectInert(profile, 1);
});

test("the response of an endpoint is plain text on the page of the event", async () => {
  await expect.poll(() => hooks.received.length, slowPage).toBeGreaterThanOrEqual(emails.length);
  const { data } = await backstamp.api("GET", `/webhooks/${webhook}/events?limit=100`, undefined, token);
  expect(data).toHaveLength(emails.length);
  for (const { id } of data) {
    await page.goto(`${backstamp.url}/console/webhooks/${webhook}/events/${id}`);
    const isShown = ({ text }: Payload, texts: string[]) => texts.some((shown) => shown.includes(text));
    const hasWholePart = async () => {
      const texts = await textsOn(page);
      return PARTS.some((part) => part.every((payload) => isShown(payload, texts)));
    };
    await expect.poll(hasWholePart, slowPage).toBe(true);
    expect(await foreignMarkupOn(page)).toEqual([]);
  }
  await settle(page);
  expectInert(profile, 1);
});

test("so are a template, a user agent in the list of requests, and one in the list of sessions", async () => {
  for (const path of [
    `/console/templates/${template}`,
    "/console/activity/requests",
    "/console/settings/security",
  ]) {
    await page.goto(backstamp.url + path);
    await settle(page);
    expect(
      (await textsOn(page)).some((text) => LINES.some((each) => text.includes(each.text))),
      path,
    ).toBe(true);
    expect(await foreignMarkupOn(page), path).toEqual([]);
  }
  expectInert(profile, 1);
});
