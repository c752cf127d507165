import { describe, expect, test } from "vitest";
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
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";

const console = await openConsole();
const team = await createRoleTeam(console, "Starters");

const call = <T>(procedure: string, input: object) => team.data<T>("member", `templates.${procedure}`, input);

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
