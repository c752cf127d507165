import { button, entry, link, note, page, paragraph, row, type Starter, table, tag, title } from "./layout";

export const RECEIPT: Starter = {
  value: "receipt",
  label: "Receipt",
  hint: "The items of an order and its total.",
  subject: "Your receipt for order {{order}}",
  html: page({
    preheader: "Order {{order}}: {{total}}",
    body: [
      title("Thank you{{#if customer}}, {{customer}}{{/if}}"),
      paragraph("This is your receipt for order {{order}} of {{date}}."),
      table(
        tag("{{#each items}}"),
        row("{{name}}{{#if quantity}} × {{quantity}}{{/if}}", "{{price}}"),
        tag("{{/each}}"),
        tag("{{#if tax}}"),
        row("Tax", "{{tax}}"),
        tag("{{/if}}"),
        row("Total", "{{total}}", true),
      ),
      button("{{link}}", "View order"),
      note("Keep this email for your records."),
    ],
    footer: "{{product}}{{#if address}}, {{address}}{{/if}}",
  }),
  text: `Thank you{{#if customer}}, {{customer}}{{/if}}

Receipt for order {{order}} of {{date}}

{{#each items}}
- {{name}}{{#if quantity}} x {{quantity}}{{/if}}: {{price}}
{{/each}}
{{#if tax}}
Tax: {{tax}}
{{/if}}
Total: {{total}}

View order: {{link}}

{{product}}{{#if address}}, {{address}}{{/if}}

`,
  samples: {
    product: "Alder & Oak",
    customer: "Ann",
    order: "10492",
    date: "23 November 2026",
    items: [
      { name: "Oak chair", quantity: 2, price: "€ 240.00" },
      { name: "Delivery", quantity: null, price: "€ 19.00" },
    ],
    tax: "€ 54.39",
    total: "€ 313.39",
    link: "https://example.com/orders/10492",
    address: "Brivibas iela 1, Riga",
  },
};

export const DIGEST: Starter = {
  value: "digest",
  label: "Digest",
  hint: "A list of news with links, for a day or a week.",
  subject: "{{product}}: {{period}}",
  html: page({
    preheader: "{{#each items}}{{title}}. {{else}}Nothing new.{{/each}}",
    body: [
      title("{{period}}"),
      table(
        tag("{{#each items}}"),
        entry(`<b>${link("{{url}}", "{{title}}")}</b>{{#if summary}}<br>{{summary}}{{/if}}`),
        tag("{{else}}"),
        entry("Nothing new."),
        tag("{{/each}}"),
      ),
      button("{{link}}", "Open {{product}}"),
    ],
    footer: `You receive this digest because you subscribed to it. ${link("{{settings}}", "Change settings")}`,
  }),
  text: `{{product}}: {{period}}

{{#each items}}
* {{title}}
  {{#if summary}}
  {{summary}}
  {{/if}}
  {{url}}

{{else}}
Nothing new.

{{/each}}
Open {{product}}: {{link}}
Change settings: {{settings}}
`,
  samples: {
    product: "Alder & Oak",
    period: "Your week, 16 to 22 November",
    items: [
      {
        title: "The new sanding bench",
        summary: "It is in hall 2. Reserve it for a day.",
        url: "https://example.com/news/41",
      },
      { title: "Opening hours in December", summary: "", url: "https://example.com/news/42" },
    ],
    link: "https://example.com/news",
    settings: "https://example.com/settings",
  },
};
