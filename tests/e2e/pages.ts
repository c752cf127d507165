import { expect, vi } from "vitest";
import type { Backstamp } from "./backstamp";

/** Ids of one object of each type in a team. */
export type TestData = {
  email: string;
  template: string;
  domain: string;
  key: string;
  webhook: string;
  webhookEvent: string;
};

export type ConsolePage = {
  /** The name of its screenshots and its test. */
  name: string;
  /** Its file below `app`, without `/page.tsx`. A test fails if a page is missing here. */
  file: string;
  /** Its path in a team with data. */
  pathOf: (testData: TestData) => string;
  /** Its first heading, which shows that the page is loaded. */
  heading: string | RegExp;
  /** The title of an object's page, if it is not the heading. */
  title?: RegExp;
  /** Whether the page also exists in a new team. */
  isForFresh: boolean;
  /**
   * Script limit until idle in KB (1,024 bytes, compressed), for pages that load more parts after hydration.
   */
  scriptKb?: number;
};

/** Includes the chart library, which loads after the page. */
const chartKb = 350;
/** Includes the endpoint examples at the end of the page, which load later. */
const receiversKb = 215;
/** Includes the code editor, which loads after the page. */
const editorKb = 450;

/** Every page of the console, for suites that test all pages. */
export const PAGES: readonly ConsolePage[] = [
  {
    name: "overview",
    file: "console/(overview)",
    pathOf: () => "/console",
    heading: "Overview",
    isForFresh: true,
    scriptKb: chartKb,
  },
  {
    name: "emails",
    file: "console/emails",
    pathOf: () => "/console/emails",
    heading: "Emails",
    isForFresh: true,
  },
  {
    name: "email",
    file: "console/emails/[id]",
    pathOf: ({ email }) => `/console/emails/${email}`,
    heading: "Your receipt",
    isForFresh: false,
  },
  {
    name: "templates",
    file: "console/templates",
    pathOf: () => "/console/templates",
    heading: "Templates",
    isForFresh: true,
  },
  {
    name: "template",
    file: "console/templates/[id]",
    pathOf: ({ template }) => `/console/templates/${template}`,
    heading: "Receipt",
    isForFresh: false,
    scriptKb: editorKb,
  },
  {
    name: "template-versions",
    file: "console/templates/[id]/versions",
    pathOf: ({ template }) => `/console/templates/${template}/versions`,
    heading: "Versions of Receipt",
    isForFresh: false,
  },
  {
    name: "suppressions",
    file: "console/suppressions",
    pathOf: () => "/console/suppressions",
    heading: "Suppressions",
    isForFresh: true,
  },
  {
    name: "domains",
    file: "console/domains",
    pathOf: () => "/console/domains",
    heading: "Domains",
    isForFresh: true,
  },
  {
    name: "domain",
    file: "console/domains/[id]",
    pathOf: ({ domain }) => `/console/domains/${domain}`,
    heading: "mail.example.com",
    isForFresh: false,
  },
  {
    name: "keys",
    file: "console/keys",
    pathOf: () => "/console/keys",
    heading: "API keys",
    isForFresh: true,
  },
  {
    name: "key",
    file: "console/keys/[id]",
    pathOf: ({ key }) => `/console/keys/${key}`,
    heading: "Whole",
    isForFresh: false,
  },
  {
    name: "webhooks",
    file: "console/webhooks",
    pathOf: () => "/console/webhooks",
    heading: "Webhooks",
    isForFresh: true,
  },
  {
    name: "webhook",
    file: "console/webhooks/[id]",
    pathOf: ({ webhook }) => `/console/webhooks/${webhook}`,
    heading: /hooks\.example\.invalid/,
    isForFresh: false,
    scriptKb: receiversKb,
  },
  {
    name: "webhook-event",
    file: "console/webhooks/[id]/events/[event]",
    pathOf: ({ webhook, webhookEvent }) => `/console/webhooks/${webhook}/events/${webhookEvent}`,
    heading: /^email\./,
    title: /^email\.\w+ for \S+@\S+ · Backstamp$/,
    isForFresh: false,
  },
  {
    name: "activity",
    file: "console/activity",
    pathOf: () => "/console/activity",
    heading: "Activity",
    isForFresh: true,
  },
  {
    name: "requests",
    file: "console/activity/requests",
    pathOf: () => "/console/activity/requests",
    heading: "Activity",
    isForFresh: true,
  },
  {
    name: "profile",
    file: "console/settings/profile",
    pathOf: () => "/console/settings/profile",
    heading: "Profile",
    isForFresh: true,
  },
  {
    name: "security",
    file: "console/settings/security",
    pathOf: () => "/console/settings/security",
    heading: "Settings",
    isForFresh: true,
  },
  {
    name: "team",
    file: "console/settings/team",
    pathOf: () => "/console/settings/team",
    heading: "Name",
    isForFresh: true,
  },
  {
    name: "members",
    file: "console/settings/members",
    pathOf: () => "/console/settings/members",
    heading: "Members",
    isForFresh: true,
  },
  {
    name: "personal-data",
    file: "console/settings/personal-data",
    pathOf: () => "/console/settings/personal-data",
    heading: "Settings",
    isForFresh: true,
  },
  {
    name: "installation",
    file: "console/installation",
    pathOf: () => "/console/installation",
    heading: "Installation",
    isForFresh: false,
  },
  {
    name: "installation-alerts",
    file: "console/installation/alerts",
    pathOf: () => "/console/installation/alerts",
    heading: "Installation",
    isForFresh: false,
  },
  {
    name: "doctor",
    file: "console/installation/doctor",
    pathOf: () => "/console/installation/doctor",
    heading: "Installation",
    isForFresh: false,
  },
  {
    name: "relays",
    file: "console/installation/relays",
    pathOf: () => "/console/installation/relays",
    heading: "Installation",
    isForFresh: false,
  },
  {
    name: "destinations",
    file: "console/installation/destinations",
    pathOf: () => "/console/installation/destinations",
    heading: "Installation",
    isForFresh: false,
  },
  {
    name: "reply-rules",
    file: "console/installation/replies",
    pathOf: () => "/console/installation/replies",
    heading: "Installation",
    isForFresh: false,
  },
  {
    name: "queues",
    file: "console/installation/queues",
    pathOf: () => "/console/installation/queues",
    heading: "Installation",
    isForFresh: false,
  },
  {
    name: "teams",
    file: "console/installation/teams",
    pathOf: () => "/console/installation/teams",
    heading: "Installation",
    isForFresh: false,
  },
];

/** A browser may break a line after each hyphen. */
const HYPHENATED = "first-name.last-name@customer-support.north-west.example.net";

/** Creates one object of each type in the first team, through the API and the CLI. */
export async function fillTeam(backstamp: Backstamp): Promise<TestData> {
  const made = await backstamp.operate(
    ...["key", "create", "--name", "Whole", "--scopes", "full_access", "--json"],
  );
  const { id: key, token } = JSON.parse(made);
  const post = async (target: string, body: unknown): Promise<string> =>
    (await backstamp.api("POST", target, body, token)).id;
  const webhook = await post("/webhooks", {
    endpoint: "https://hooks.example.invalid/backstamp",
    events: ["email.queued", "email.delivered", "email.bounced"],
  });
  const domain = await post("/domains", { name: "mail.example.com" });
  const template = await post("/templates", {
    name: "Receipt",
    alias: "receipt",
    subject: "Your receipt, {{{NAME}}}",
    html: "<h1>Thank you, {{{NAME}}}</h1><p>Your order has left our workshop.</p>",
    variables: [{ key: "NAME", type: "string", fallback_value: "you" }],
  });
  await post("/suppressions", { email: "gone@example.net" });
  await post("/suppressions", { email: HYPHENATED });
  for (const [to, subject] of [
    ["bounced+away@backstamp.test", "Please confirm your address"],
    ["deferred+slow@backstamp.test", "Weekly digest: 14 new replies in three threads you follow"],
    ["complained+list@backstamp.test", "Spring sale: everything for the balcony"],
  ] as const)
    await backstamp.send({ to, subject, html: `<p>${subject}</p>` });
  const email = await backstamp.send({
    to: ["delivered+nora@backstamp.test", "delivered+a-name-with-hyphens@backstamp.test"],
    cc: `Support-Team <${HYPHENATED}>`,
    reply_to: [HYPHENATED, "no-reply@mail.example.com"],
    subject: "Your receipt",
    html: "<h1>Thank you</h1><p>Your order has left our workshop.</p>",
    text: "Thank you.",
  });
  // Pages must not change while they are measured: the statuses are final, and the third attempt of an event
  // delivery is minutes away.
  const readEvents = async () =>
    (await backstamp.api("GET", `/webhooks/${webhook}/events`, undefined, token)).data;
  await vi.waitFor(
    async () => {
      const { data: emails } = await backstamp.api("GET", "/emails", undefined, token);
      expect(emails.map(({ last_event }: { last_event: string }) => last_event)).toEqual([
        "delivered",
        "complained",
        "delivered",
        "bounced",
      ]);
      for (const { attempts } of await readEvents()) expect(attempts).toBe(2);
    },
    { timeout: 60_000, interval: 500 },
  );
  const events = await readEvents();
  return { email, template, domain, key, webhook, webhookEvent: events[0].id };
}

/** Creates an empty team with an owner. */
export async function makeFreshTeam(backstamp: Backstamp) {
  const { id } = JSON.parse(await backstamp.operate("team", "create", "Fresh start", "--json"));
  const email = "fresh@backstamp.test";
  const password = "a staple for the battery";
  await backstamp.operate(
    ...["user", "create", email, "--password", password, "--team", id, "--role", "owner"],
  );
  return { id, email, password };
}
