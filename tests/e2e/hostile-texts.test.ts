import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpSink, startHttpSink } from "../support/servers/http-sink";
import { type SmtpTestServer, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { type Backstamp, startBackstamp } from "./backstamp";
import { openBrowser, openProfile, signIn, type Watched } from "./browser";
import { expectAsText, expectInert, foreignMarkupOn, settle, textsOn } from "./hostile-content";
import { PAGES } from "./pages";
import { inParts, numberIn, ONE_OF_EACH, PAYLOADS, type Payload } from "./payloads";

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
const PARTS = inParts(PAYLOADS, 16);
const partOf = (number: number) =>
  PARTS.find((part) => part.some((payload) => payload.number === number)) ?? [];
const HOSTILE = { email: "hostile@backstamp.test", password: "a staple for the battery" } as const;
const TEAM = LINES[1]?.text ?? "";
const patience = { timeout: 60_000 };
/** Each test opens many pages: fast on an idle machine, slow on a busy one. */
const longMs = 400_000;

let smtp: SmtpTestServer;
let hooks: HttpSink;
let backstamp: Backstamp;
let browser: Browser;
let profile: Watched;
let page: Page;
let token: string;
let webhook: string;
let template: string;
const keys: string[] = [];
const templates: string[] = [];
const emails: HostileEmail[] = [];

beforeAll(async () => {
  smtp = await startSmtpTestServer({
    rcpt: ({ address }) => {
      const payload = PAYLOADS.find(({ number }) => number === numberIn(address.replace("n", "n ")));
      return `550 5.1.1 ${payload && isAscii(payload) ? payload.text : "no such user"}`;
    },
  });
  // The endpoint responds to the event of an email with all payloads of that email.
  hooks = await startHttpSink(({ body }) => ({
    status: 500,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: partOf(numberIn(JSON.parse(body).data.to[0].replace("n", "n ")) ?? 0)
      .map(({ text }) => text)
      .join("\n"),
  }));
  browser = await openBrowser();
  backstamp = await startBackstamp({
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8",
  });
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
  ({ token } = JSON.parse(made));
  await backstamp.operate(
    ...["user", "create", HOSTILE.email, "--password", HOSTILE.password, "--role", "owner", ...inTeam],
  );
  const hook = { endpoint: `http://127.0.0.1:${hooks.port}/hook`, events: ["email.queued"] };
  webhook = (await backstamp.api("POST", "/webhooks", hook, token)).id;
  for (const payload of LINES) await createNamed(payload);
  for (const part of PARTS) await sendHostile(part);
  // The request log stores the user agent.
  for (const { text } of LINES.filter(isAscii))
    await fetch(`${backstamp.url}/api/domains`, {
      headers: { authorization: `Bearer ${token}`, "user-agent": text },
    });
  profile = await openProfile(browser, {
    userAgent: LINES.find((payload) => isAscii(payload) && payload.text.includes("onerror"))?.text ?? "",
  });
  page = await profile.context.newPage();
  await signIn(page, backstamp.url, HOSTILE.email, HOSTILE.password);
});
afterAll(async () => {
  await browser?.close();
  await backstamp?.stop();
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
  expect(countOf("names")).toBeGreaterThan(10);
  expect(countOf("headers")).toBeGreaterThanOrEqual(150);
  // File names must not contain paths, which excludes most payloads.
  expect(countOf("files")).toBeGreaterThan(10);
  expect(PAYLOADS.filter(isAscii).length).toBeGreaterThanOrEqual(150);
});

test(
  "the email page displays sender name, headers, files and SMTP replies verbatim",
  async () => {
    const visit = async (visited: typeof emails) => {
      const tab = await profile.context.newPage();
      for (const { id, part, names, headers, files } of visited) {
        await tab.goto(`${backstamp.url}/console/emails/${id}`);
        const replies = part.filter(isAscii).map(({ text }) => `550 5.1.1 ${text}`);
        await expectAsText(tab, [part[0]?.text ?? "", ...names, ...replies]);
        if (files.length > 0) {
          await tab.getByRole("tab", { name: /^Files/ }).click();
          await expectAsText(tab, files);
        }
        await tab.getByRole("tab", { name: "Headers" }).click();
        await expectAsText(tab, headers);
        await tab.getByRole("tab", { name: "Text" }).click();
        await expectAsText(tab, [part.at(-1)?.text ?? ""]);
        await tab.getByRole("tab", { name: "Source" }).click();
        await expectAsText(tab, ["MIME-Version"]);
      }
      await settle(tab);
      await tab.close();
    };
    const half = Math.ceil(emails.length / 2);
    await Promise.all([visit(emails.slice(0, half)), visit(emails.slice(half))]);
    expectInert(profile, 1);
  },
  longMs,
);

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

test(
  "the response of an endpoint is plain text on the page of the event",
  async () => {
    await expect.poll(() => hooks.received.length, patience).toBeGreaterThanOrEqual(emails.length);
    await page.goto(`${backstamp.url}/console/webhooks/${webhook}`);
    await settle(page);
    expect(await foreignMarkupOn(page)).toEqual([]);
    const { data } = await backstamp.api("GET", `/webhooks/${webhook}/events?limit=100`, undefined, token);
    expect(data).toHaveLength(emails.length);
    const wanted = new Set(PAYLOADS.map(({ text }) => text));
    for (const { id } of data) {
      await page.goto(`${backstamp.url}/console/webhooks/${webhook}/events/${id}`);
      await expect
        .poll(
          async () => (await textsOn(page)).some((text) => [...wanted].some((each) => text.includes(each))),
          patience,
        )
        .toBe(true);
      expect(await foreignMarkupOn(page)).toEqual([]);
      for (const shown of await textsOn(page))
        for (const text of wanted) if (shown.includes(text)) wanted.delete(text);
    }
    expect([...wanted]).toEqual([]);
    await settle(page);
    expectInert(profile, 1);
  },
  longMs,
);

test(
  "every console page displays them as plain text",
  async () => {
    const { data } = await backstamp.api("GET", `/webhooks/${webhook}/events?limit=1`, undefined, token);
    const { data: domains } = await backstamp.api("GET", "/domains", undefined, token);
    const { data: apiKeys } = await backstamp.api("GET", "/api-keys", undefined, token);
    const testData = {
      email: emails[0]?.id ?? "",
      template,
      domain: domains[0].id,
      key: apiKeys[0].id,
      webhook,
      webhookEvent: data[0].id,
    };
    const paths = PAGES.map(({ pathOf }) => pathOf(testData));
    for (const path of new Set([
      ...paths,
      "/console",
      "/console/activity/requests",
      "/console/settings/security",
    ])) {
      await page.goto(backstamp.url + path);
      await settle(page);
      expect(await foreignMarkupOn(page), path).toEqual([]);
      expect(page.url().startsWith(backstamp.url), path).toBe(true);
    }
    expectInert(profile, 1);
  },
  longMs,
);
