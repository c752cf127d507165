import type { Posthorn } from "./posthorn";

/** What a team has that its pages can show, by id. */
export type Filled = {
  email: string;
  template: string;
  domain: string;
  key: string;
  webhook: string;
  webhookEvent: string;
};

export type ConsolePage = {
  /** Of its pictures, and of its test. */
  name: string;
  /** Its file below `app`, without `/page.tsx`; a page that stands in no line fails a test. */
  file: string;
  /** Its address in a team that has something to show. */
  pathOf: (filled: Filled) => string;
  /** Its first heading, by which it is known to be there. */
  heading: string | RegExp;
  /** Whether a team that has nothing yet has it too. */
  isForFresh: boolean;
  /** Script in KB (1,024 bytes, compressed) until it rests, where parts come by themselves after the page can be used. */
  scriptKb?: number;
};

/** The numbers are there at once; the library that draws them comes after. */
const chartKb = 350;
/** With receivers to copy at the end of the page, which come after it. */
const receiversKb = 215;
/** With the editor, whose code comes after the page. */
const editorKb = 450;

/** Every page of the console. The suites that go over all pages read it. */
export const PAGES: readonly ConsolePage[] = [
  {
    name: "overview",
    file: "console",
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
];

/** Gives the first team one of each noun, through the doors that programs and the operator use. */
export async function fillTeam(posthorn: Posthorn): Promise<Filled> {
  const made = await posthorn.operate(
    ...["key", "create", "--name", "Whole", "--scopes", "full_access", "--json"],
  );
  const { id: key, token } = JSON.parse(made);
  const post = async (target: string, body: unknown): Promise<string> =>
    (await posthorn.api("POST", target, body, token)).id;
  const webhook = await post("/webhooks", {
    endpoint: "https://hooks.example.invalid/posthorn",
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
  for (const [to, subject] of [
    ["bounced+away@posthorn.test", "Please confirm your address"],
    ["deferred+slow@posthorn.test", "Weekly digest: 14 new replies in three threads you follow"],
    ["complained+list@posthorn.test", "Spring sale: everything for the balcony"],
  ] as const)
    await posthorn.send({ to, subject, html: `<p>${subject}</p>` });
  const email = await posthorn.send({
    to: "delivered+nora@posthorn.test",
    subject: "Your receipt",
    html: "<h1>Thank you</h1><p>Your order has left our workshop.</p>",
    text: "Thank you.",
  });
  const events = await posthorn.api("GET", `/webhooks/${webhook}/events`, undefined, token);
  return { email, template, domain, key, webhook, webhookEvent: events.data[0].id };
}

/** A team in which nothing has happened, and who signs in to it. */
export async function makeFreshTeam(posthorn: Posthorn) {
  const { id } = JSON.parse(await posthorn.operate("team", "create", "Fresh start", "--json"));
  const email = "fresh@posthorn.test";
  const password = "a staple for the battery";
  await posthorn.operate(
    ...["user", "create", email, "--password", password, "--team", id, "--role", "owner"],
  );
  return { id, email, password };
}
