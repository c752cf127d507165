import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpSink, startHttpSink } from "../support/http-sink";
import { type FaultPeer, startFaultPeer } from "../support/smtp-peer";
import { openBrowser, openProfile, signIn, type Watched } from "./browser";
import { expectAsText, expectInert, foreignMarkupOn, settle, textsOn } from "./inert";
import { PAGES } from "./pages";
import { numberIn, ONE_OF_EACH, PAYLOADS, type Payload } from "./payloads";
import { type Posthorn, startPosthorn } from "./posthorn";

/** Characters that a mail server's reply and a header of HTTP can have. */
const isAscii = ({ text }: Payload) => /^[\x20-\x7e]+$/.test(text);
/** One of each class, on one line and in such characters where the class has one. */
const LINES = ONE_OF_EACH.map(
  (first) => PAYLOADS.find((payload) => payload.class === first.class && isAscii(payload)) ?? first,
);
const HOSTILE = { email: "hostile@posthorn.test", password: "a staple for the battery" } as const;
const TEAM = LINES[1]?.text ?? "";
const patience = { timeout: 60_000 };
/** Many pages in one test: quick where nothing else runs, and not to be hurried where much does. */
const longMs = 400_000;

let smtp: FaultPeer;
let hooks: HttpSink;
let posthorn: Posthorn;
let browser: Browser;
let profile: Watched;
let page: Page;
let token: string;
let webhook: string;
let template: string;
const keys: string[] = [];
const templates: string[] = [];
const mails: { id: string; payload: Payload; fields: string[] }[] = [];

beforeAll(async () => {
  smtp = await startFaultPeer({
    rcpt: ({ address }) => {
      const payload = LINES.find(({ number }) => number === numberIn(address.replace("n", "n ")));
      return `550 5.1.1 ${payload && isAscii(payload) ? payload.text : "no such user"}`;
    },
  });
  hooks = await startHttpSink((_, nth) => ({
    status: 500,
    headers: { "content-type": "text/html" },
    body: LINES[nth % LINES.length]?.text ?? "",
  }));
  browser = await openBrowser();
  posthorn = await startPosthorn({
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    POSTHORN_EGRESS_ALLOW: "127.0.0.0/8",
  });
  const team = JSON.parse(await posthorn.operate("team", "create", TEAM, "--json"));
  const inTeam = ["--team", team.id];
  await posthorn.operate("domain", "add", "example.org", "--verified", ...inTeam);
  const made = await posthorn.operate(
    ...["key", "create", "--name", LINES[0]?.text ?? "", "--scopes", "full_access", "--json", ...inTeam],
    ...[
      "--domains",
      "example.org,posthorn.test",
      "--limit",
      "other=10000",
      "--limit",
      "POST /api/emails=10000",
    ],
    ...["--limit", "POST /api/templates=10000"],
  );
  ({ token } = JSON.parse(made));
  await posthorn.operate(
    ...["user", "create", HOSTILE.email, "--password", HOSTILE.password, "--role", "owner", ...inTeam],
  );
  const hook = { endpoint: `http://127.0.0.1:${hooks.port}/hook`, events: ["email.bounced", "email.failed"] };
  webhook = (await posthorn.api("POST", "/webhooks", hook, token)).id;
  for (const payload of LINES) await plant(payload);
  // What a program says of itself goes into the log of requests.
  for (const { text } of LINES.filter(isAscii))
    await fetch(`${posthorn.url}/api/domains`, {
      headers: { authorization: `Bearer ${token}`, "user-agent": text },
    });
  profile = await openProfile(browser, {
    userAgent: LINES.find((payload) => isAscii(payload) && payload.text.includes("onerror"))?.text ?? "",
  });
  page = await profile.context.newPage();
  await signIn(page, posthorn.url, HOSTILE.email, HOSTILE.password);
});
afterAll(async () => {
  await browser?.close();
  await posthorn?.stop();
  await hooks?.close();
  await smtp?.close();
});

/** Puts a payload wherever a program may put a text. What is refused is refused by name, and goes without that field. */
async function plant(payload: Payload): Promise<void> {
  const { text, number } = payload;
  const tryTo = (target: string, body: object) =>
    posthorn.api("POST", target, body, token).catch((error: Error) => {
      expect(error.message).toMatch(/ (422|400) /);
      return null;
    });
  const key = await tryTo("/api-keys", { name: text, permission: "sending_access" });
  if (key) keys.push(text);
  const made = await tryTo("/templates", { name: text, subject: "Hello", html: text });
  if (made) {
    templates.push(text);
    template = made.id;
  }
  const risky: Record<string, unknown> = {
    from: `"${text.replace(/["\\]/g, "\\$&")}" <shop@example.org>`,
    headers: { "X-Hostile": text },
    attachments: [{ filename: text, content: "aGVsbG8=" }],
    tags: [{ name: "kind", value: text }],
  };
  for (;;) {
    const body = {
      to: `n${number}@example.net`,
      subject: text,
      text,
      html: text,
      from: "shop@example.org",
      ...risky,
    };
    try {
      const { id } = await posthorn.api("POST", "/emails", body, token);
      mails.push({ id, payload, fields: Object.keys(risky) });
      return;
    } catch (error) {
      const field = Object.keys(risky).find((name) => String(error).includes(`\`${name}`));
      if (!field) throw error;
      delete risky[field];
    }
  }
}

const having = (field: string) => mails.filter(({ fields }) => fields.includes(field)).length;

test("hostile texts are taken where texts are taken", () => {
  expect(mails).toHaveLength(LINES.length);
  expect(keys.length).toBeGreaterThan(10);
  expect(templates.length).toBeGreaterThan(10);
  for (const field of ["from", "headers"]) expect(having(field), field).toBeGreaterThan(10);
  // A file's name is no path, which takes most of them away.
  expect(having("attachments")).toBeGreaterThan(2);
  // A tag is a name for programs, and takes no such thing.
  expect(having("tags")).toBe(0);
});

describe("a mail's page", () => {
  test(
    "shows the sender's name, headers, files and the mail server's reply letter by letter",
    async () => {
      const visit = async (part: typeof mails) => {
        const tab = await profile.context.newPage();
        for (const { id, payload, fields } of part) {
          await tab.goto(`${posthorn.url}/console/emails/${id}`);
          const reply = isAscii(payload) ? [`550 5.1.1 ${payload.text}`] : [];
          await expectAsText(tab, [payload.text, ...reply]);
          const seen = await textsOn(tab);
          const tabs = tab.getByRole("tab");
          for (let nth = 0; nth < (await tabs.count()); nth++) {
            await tabs.nth(nth).click();
            await expectAsText(tab, []);
            seen.push(...(await textsOn(tab)));
          }
          const shown = seen.filter((text) => text.includes(payload.text)).length;
          expect(shown, payload.text).toBeGreaterThanOrEqual(1 + fields.length);
        }
        await settle(tab);
        await tab.close();
      };
      const third = Math.ceil(mails.length / 3);
      await Promise.all([0, 1, 2].map((n) => visit(mails.slice(n * third, (n + 1) * third))));
      expectInert(profile, 1);
    },
    longMs,
  );
});

test("names of keys and templates, and of the team, are texts of their lists", async () => {
  await page.goto(`${posthorn.url}/console/keys`);
  await expectAsText(page, [...keys.slice(-20), TEAM]);
  await page.goto(`${posthorn.url}/console/templates`);
  await expectAsText(page, templates.slice(-20));
  await page.goto(`${posthorn.url}/console/activity`);
  await expectAsText(page, keys.slice(-3));
  await settle(page);
  expectInert(profile, 1);
});

test("what a webhook's receiver answers is a text of its events", async () => {
  await expect.poll(() => hooks.received.length, patience).toBeGreaterThan(2);
  await page.goto(`${posthorn.url}/console/webhooks/${webhook}`);
  await settle(page);
  expect(await foreignMarkupOn(page)).toEqual([]);
  const { data } = await posthorn.api("GET", `/webhooks/${webhook}/events?limit=5`, undefined, token);
  let shown = 0;
  for (const { id } of data) {
    await page.goto(`${posthorn.url}/console/webhooks/${webhook}/events/${id}`);
    await settle(page);
    expect(await foreignMarkupOn(page)).toEqual([]);
    const texts = await textsOn(page);
    if (LINES.some((payload) => texts.some((text) => text.includes(payload.text)))) shown++;
  }
  expect(shown).toBeGreaterThan(0);
  expectInert(profile, 1);
});

test(
  "no page of the console makes anything else of them than text",
  async () => {
    const { data } = await posthorn.api("GET", `/webhooks/${webhook}/events?limit=1`, undefined, token);
    const { data: domains } = await posthorn.api("GET", "/domains", undefined, token);
    const { data: apiKeys } = await posthorn.api("GET", "/api-keys", undefined, token);
    const filled = {
      email: mails[0]?.id ?? "",
      template,
      domain: domains[0].id,
      key: apiKeys[0].id,
      webhook,
      webhookEvent: data[0].id,
    };
    const paths = PAGES.map(({ pathOf }) => pathOf(filled));
    for (const path of new Set([
      ...paths,
      "/console",
      "/console/activity/requests",
      "/console/settings/security",
    ])) {
      await page.goto(posthorn.url + path);
      await settle(page);
      expect(await foreignMarkupOn(page), path).toEqual([]);
      expect(page.url().startsWith(posthorn.url), path).toBe(true);
    }
    expectInert(profile, 1);
  },
  longMs,
);
