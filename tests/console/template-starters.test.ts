import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getEmail } from "#server/services/emails/read/read";
import type { DraftPreview } from "#server/services/templates/preview";
import { keysIn, namesInLists, optionalKeysIn } from "#server/shared/template-variables";
import type { TemplateView } from "#server/trpc/templates/templates";
import {
  fieldsOf,
  parseValue,
  samplesOf,
  toVariableInput,
  valuesOf,
} from "../../app/console/templates/[id]/fields";
import { STARTERS } from "../../app/console/templates/starters/starters";
import { contrastOf, paintedTexts } from "../support/console/colors";
import { type Console, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";

let console: Console;
let team: RoleTeam;
beforeAll(async () => {
  console = await openConsole();
  team = await createRoleTeam(console, "Starters");
});
afterAll(() => console.close());

async function call<T>(procedure: string, input: object): Promise<T> {
  const result = await team.call("member", `templates.${procedure}`, input);
  if (!result.ok) throw new Error(`${procedure}: ${result.message}`);
  return result.data as T;
}

/** Creates a template as the dialog does, and publishes it. */
async function publish({
  value: alias,
  subject,
  html,
  text,
}: (typeof STARTERS)[number]): Promise<TemplateView> {
  const content = { subject: subject || null, html, text };
  const { id } = await call<{ id: string }>("create", { name: alias, alias, ...content });
  const made = await call<TemplateView>("get", { id });
  await call("publish", { id, revision: made.revision });
  return made;
}

test("there are five starters with content, and an empty one", () => {
  expect(STARTERS.map(({ value }) => value)).toEqual([
    "welcome",
    "reset",
    "receipt",
    "invitation",
    "digest",
    "blank",
  ]);
});

describe.each(STARTERS.filter(({ value }) => value !== "blank"))("$value", (starter) => {
  test("is previewed and sent with its samples, and without what is optional", async () => {
    const template = await publish(starter);
    const fields = fieldsOf(template);
    const { subject, html, text } = fields;
    const values = valuesOf(fields.variables, samplesOf(starter.samples));
    expect(Object.keys(values).sort()).toEqual(fields.variables.map(({ key }) => key).sort());
    const preview = await call<DraftPreview>("preview", {
      draft: { subject, html, text, variables: toVariableInput(fields.variables) },
      values,
      withText: false,
    });
    expect(preview).toMatchObject({ faults: [], warnings: [], missing: [] });

    const optional = optionalKeysIn(subject, html, text);
    expect(optional.size + 1, "something must be required").toBeLessThan(fields.variables.length + 1);
    for (const variables of [
      values,
      Object.fromEntries(Object.entries(values).filter(([key]) => !optional.has(key))),
    ]) {
      const { id } = await console.world.send(
        { sender: "ann@backstamp.test", subject: null, html: null, template: { id: template.id, variables } },
        team.ctx,
      );
      const email = await getEmail(team.ctx, id);
      expect(`${email.subject}${email.html}${email.text}`).not.toMatch(
        /\{\{|\}\}(?!\s*<\/style>)|undefined|null/,
      );
      expect(email.text).not.toMatch(/<[a-z]|\n\n\n/);
      if (variables !== values) continue;
      expect({ subject: email.subject, html: email.html, text: email.text }).toEqual({
        subject: preview.subject,
        html: preview.html,
        text: preview.text,
      });
      expect(email.html).toContain("Alder &amp; Oak");
      expect(email.text).toContain("Alder & Oak");
    }
  });

  test("has markup that the large clients render: tables, inline styles, dark colors, nothing loaded", () => {
    const { html } = starter;
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html).not.toMatch(
      /<(?:img|script|link|iframe|form|svg|video)\b|url\(|@import|src=|position:|display:\s*(?:flex|grid)/,
    );
    for (const [table] of html.matchAll(/<table[^>]*>/g)) expect(table).toContain('role="presentation"');
    for (const [cell] of html.matchAll(/<(?:p|h1|a)\b[^>]*>/g)) expect(cell).toContain("style=");
    expect(html).toContain("prefers-color-scheme: dark");
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    expect(html.length).toBeLessThan(20_000);
    expect(html.split("<!--[if mso]>")).toHaveLength(3);
    expect(html.split("<![endif]-->")).toHaveLength(3);
    for (const name of ["table", "tr", "td", "p", "h1", "a"])
      expect(html.match(new RegExp(`<${name}\\b`, "g"))?.length ?? 0, name).toBe(
        html.match(new RegExp(`</${name}>`, "g"))?.length ?? 0,
      );
  });

  test("has a contrast of at least 4.5 in light and dark, also for links", () => {
    const texts = paintedTexts(starter.html);
    expect(texts.length).toBeGreaterThan(5);
    for (const { element, light, dark } of texts) {
      expect(contrastOf(light), `${element} in light colors`).toBeGreaterThanOrEqual(4.5);
      expect(contrastOf(dark), `${element} in dark colors`).toBeGreaterThanOrEqual(4.5);
    }
    const links = starter.html.match(/<a\b/g) ?? [];
    expect(texts.filter(({ element }) => element.startsWith("<a "))).toHaveLength(links.length);
  });

  test("has a button and a preheader that Outlook for Windows renders", () => {
    const { html } = starter;
    const buttons = html.match(/<td[^>]*><a [^>]*padding:[^>]*>/g) ?? [];
    expect(buttons.length).toBeGreaterThan(0);
    // Word ignores the padding of a link, so the cell has the same padding for Word alone.
    for (const button of buttons)
      expect(button).toMatch(
        /^<td[^>]*mso-padding-alt:(13px 24px)[^>]*><a [^>]*padding:\1;.*mso-padding-alt:0/,
      );
    for (const [hidden] of html.matchAll(/<[^>]*display:none[^>]*>/g))
      expect(hidden).toContain("mso-hide:all");
    expect(html).toContain("mso-hide:all");
  });

  test("breaks an address that is shown, so that a long one fits a phone", () => {
    const content = starter.html.slice(starter.html.indexOf("<body"));
    for (const [, tag] of content.matchAll(/(<[^>]*>)\s*\{\{(?:link|url|settings)\}\}/g))
      expect(tag).toContain("word-break:break-all");
  });

  test("has no name that is a variable and a field of an item", () => {
    const sources = [starter.subject, starter.html, starter.text];
    const inLists = namesInLists(...sources);
    expect(keysIn(...sources).filter((key) => inLists.has(key))).toEqual([]);
  });
});

test("a receipt with an item that has no name is rejected, also if the customer has one", async () => {
  const receipt = STARTERS.find(({ value }) => value === "receipt");
  if (!receipt) throw new Error("The receipt is missing.");
  const { id } = await publish({ ...receipt, value: "receipt-without-name" });
  const variables = {
    product: "Alder & Oak",
    customer: "Ann",
    order: "10492",
    date: "23 November 2026",
    total: "€ 1.00",
    link: "https://example.com/orders/10492",
    items: [{ price: "€ 1.00" }],
  };
  const before = (await console.world.rowCounts()).emails;
  await expect(
    console.world.send(
      { sender: "ann@backstamp.test", subject: null, html: null, template: { id, variables } },
      team.ctx,
    ),
  ).rejects.toThrow("`items[0].name`");
  expect((await console.world.rowCounts()).emails).toBe(before);
});

test("samples of lists are JSON, as the form has them", () => {
  const [receipt] = STARTERS.filter(({ value }) => value === "receipt");
  expect(parseValue("list", samplesOf(receipt?.samples ?? {}).items ?? "")).toEqual(receipt?.samples.items);
});
