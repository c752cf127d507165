import type { Page } from "playwright-core";
import { expect, vi } from "vitest";
import type { Backstamp } from "./backstamp";
import type { TestData } from "./pages";

/** A text of this length without a space, where a layout cannot break a line. */
const unbroken = (start: string, length: number): string =>
  start.padEnd(length, "abcdefghijklmnopqrstuvwxyz");

const LABEL = unbroken("customer-support-", 50);
const DOMAIN = `${LABEL}.${LABEL}.example.com`;
const ADDRESS = `${unbroken("maximiliane.", 60)}@${DOMAIN}`;
const OTHER_ADDRESS = `first-name.last-name.of.the.department@${DOMAIN}`;
/** The reply of the server of `DOMAIN` to every recipient. */
export const REPLY = `550 5.1.1 Recipient address rejected: User unknown in virtual mailbox table ${unbroken("session=", 120)}`;
const NAME = unbroken("Abteilung", 100);
const REASON = `The provider asked for it, see https://status.example.com/${unbroken("incident-", 150)}`;
const SUBJECT = `Your receipt for the order of this month ${unbroken("No-", 150)} with all of its articles and their prices`;

/**
 * Creates one object of each type, with values as long as their fields accept, in the first team, which it
 * also renames. `page` is that of an owner, and the transport replies with `REPLY` to all recipients.
 */
export async function fillWithLongValues(backstamp: Backstamp, page: Page): Promise<TestData> {
  const { operate } = backstamp;
  await operate("domain", "add", DOMAIN, "--verified");
  await operate("destination", "set", DOMAIN, "--connections", "2");
  const { id: otherTeam } = JSON.parse(await operate("team", "create", unbroken("Team", 100), "--json"));
  await operate("queue", "pause", "--team", otherTeam, "--reason", REASON);
  const member = ["--password", "a staple for the battery", "--role", "member"];
  await operate("user", "create", ADDRESS, "--name", NAME, ...member);
  const limits = ["other", "POST /api/emails", "POST /api/templates"].flatMap((tier) => [
    "--limit",
    `${tier}=10000`,
  ]);
  const { id: key, token } = JSON.parse(
    await operate(
      ...["key", "create", "--name", unbroken("Key", 50), "--scopes", "full_access", ...limits],
      ...["--networks", "127.0.0.0/8,::1/128,2001:db8:1111:2222:3333:4444:5555:6666/128"],
      ...["--domains", DOMAIN, "--json"],
    ),
  );
  const post = async (target: string, body?: unknown) => backstamp.api("POST", target, body, token);
  const { id: domain } = await post("/domains", { name: `${LABEL}.${DOMAIN}` });
  await post(`/domains/${domain}/verify`);
  const endpoint = `https://${LABEL}.invalid/${unbroken("hook-", 1_500)}`;
  const { id: webhook } = await post("/webhooks", { endpoint, events: ["email.queued", "email.bounced"] });
  const { id: template } = await post("/templates", {
    name: unbroken("Receipt", 200),
    alias: unbroken("receipt-", 64),
    subject: `${SUBJECT} {{{${unbroken("NAME", 50).toUpperCase()}}}}`,
    html: `<h1>Thank you</h1><p>${REASON}</p>`,
    variables: [{ key: unbroken("NAME", 50).toUpperCase(), type: "string", fallback_value: REASON }],
  });
  await backstamp.api("PATCH", `/templates/${template}`, { html: `<p>${REASON}</p>` }, token);
  await post(`/templates/${template}/publish`);
  await backstamp.api("PATCH", `/templates/${template}`, { html: `<p>${NAME}</p>` }, token);
  await post("/suppressions", { email: OTHER_ADDRESS.replace("first", "suppressed") });
  const message = { from: `"${NAME}" <${OTHER_ADDRESS}>`, subject: SUBJECT, html: `<p>${REASON}</p>` };
  const email = await backstamp.send(
    {
      ...message,
      to: [ADDRESS, OTHER_ADDRESS],
      cc: `"${NAME}" <second.${OTHER_ADDRESS}>`,
      reply_to: [ADDRESS, OTHER_ADDRESS],
      text: REASON,
      headers: { [unbroken("X-", 70)]: unbroken("value", 400) },
      tags: [{ name: unbroken("tag", 200), value: unbroken("value", 200) }],
      attachments: [{ filename: `${unbroken("receipt", 240)}.pdf`, content: "aGVsbG8=" }],
    },
    token,
  );
  await backstamp.send({ ...message, to: ADDRESS, scheduled_at: "in 1 day" }, token);
  await fetch(`${backstamp.url}/api/${unbroken("no-route-", 400)}`, {
    headers: { authorization: `Bearer ${token}`, "user-agent": unbroken("Agent/", 300) },
  });
  await page.goto(`${backstamp.url}/console/settings/members`);
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByRole("dialog").getByLabel("Email address").fill(`invited.${OTHER_ADDRESS}`);
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  await page.getByRole("button", { name: "Done" }).waitFor();
  await page.goto(`${backstamp.url}/console/settings/team`);
  await page.getByLabel("Team name").fill(NAME);
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText(NAME).first().waitFor();
  const events = await vi.waitFor(
    async () => {
      const { last_event } = await backstamp.api("GET", `/emails/${email}`, undefined, token);
      expect(last_event).toBe("bounced");
      const { data } = await backstamp.api("GET", `/webhooks/${webhook}/events`, undefined, token);
      for (const { attempts } of data) expect(attempts).toBe(2);
      return data;
    },
    { timeout: 60_000, interval: 500 },
  );
  // Last: email would use these relays, and nothing of a paused team is delivered. Each pause opens an alert.
  await operate("relay", "add", NAME, `smtps://user:password@${DOMAIN}`, "--domain", DOMAIN);
  await operate("relay", "add", unbroken("Paused", 100), `smtp://user:password@${DOMAIN}:2525`);
  await operate("relay", "pause", unbroken("Paused", 100), "--reason", REASON);
  await operate("queue", "pause", "--team", NAME, "--reason", REASON);
  return { email, template, domain, key, webhook, webhookEvent: events[0].id };
}
