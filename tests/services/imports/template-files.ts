import type { ProviderName } from "#server/services/imports/providers/provider";

/*
 * Documents in the shapes that the sources in server/services/imports/providers document, written for these
 * tests.
 */

/** JSON documents that follow one another in one file. */
export const json = (...documents: unknown[]) =>
  documents.map((each) => JSON.stringify(each, null, 2)).join("\n");

/** A file, and the templates that its import adds. */
export const TEMPLATE_FILES: {
  title: string;
  from: ProviderName;
  text: string;
  templates: Record<string, unknown>[];
}[] = [
  {
    title: "SendGrid: the active version, and one that is not active",
    from: "sendgrid",
    text: json(
      {
        result: [
          {
            id: "d-0a1b",
            name: "Welcome",
            generation: "dynamic",
            updated_at: "",
            versions: [{ id: "v", active: 1, subject: "Hi" }],
          },
        ],
        _metadata: {},
      },
      {
        id: "d-0a1b",
        name: "Welcome",
        generation: "dynamic",
        versions: [
          { active: 0, html_content: "old" },
          {
            active: 1,
            subject: "Hi {{name}}",
            html_content: '<p>{{insert city "default=home"}}</p>',
            plain_content: "{{name}}",
            generate_plain_content: true,
          },
        ],
      },
      {
        id: "d-2",
        name: "Later",
        generation: "dynamic",
        versions: [{ active: 0, subject: "", html_content: "<p>later</p>", plain_content: "later" }],
      },
    ),
    templates: [
      {
        alias: "d-0a1b",
        name: "Welcome",
        subject: "Hi {{name}}",
        html: "<p>{{city}}</p>",
        text: null,
        status: "published",
        fallbacks: { name: null, city: "home" },
      },
      { alias: "d-2", name: "Later", subject: null, html: "<p>later</p>", text: "later", status: "draft" },
    ],
  },
  {
    title: "Postmark: templates with and without a layout",
    from: "postmark",
    text: json(
      {
        TemplateId: 1,
        Name: "Frame",
        Alias: "frame",
        Active: true,
        TemplateType: "Layout",
        HtmlBody: "<body>{{{ @content }}}<i>{{product.name}}</i></body>",
        TextBody: "{{{@content}}}\n--",
      },
      {
        TemplateId: 2,
        Name: "Receipt",
        Alias: "Receipt.v1",
        Active: true,
        TemplateType: "Standard",
        LayoutTemplate: "frame",
        Subject: "Receipt",
        HtmlBody: "<b>{{total}}</b>",
        TextBody: "{{total}}",
      },
      {
        TemplateId: 3,
        Name: "Text only",
        Alias: null,
        Active: true,
        TemplateType: "Standard",
        LayoutTemplate: null,
        Subject: "T",
        HtmlBody: "",
        TextBody: "a < {{b}}",
      },
    ),
    templates: [
      {
        alias: "receipt-v1",
        name: "Receipt",
        subject: "Receipt",
        html: "<body><b>{{total}}</b><i>{{product.name}}</i></body>",
        text: "{{total}}\n--",
        status: "published",
      },
      {
        alias: "postmark-3",
        name: "Text only",
        html: '<div style="white-space: pre-wrap">a &lt; {{b}}</div>',
        text: "a < {{b}}",
      },
    ],
  },
  {
    title: "Amazon SES: output of both versions of the API",
    from: "ses",
    text: json(
      { TemplatesMetadata: [{ TemplateName: "Order_Sent" }] },
      {
        TemplateName: "Order_Sent",
        TemplateContent: { Subject: "Sent {{id}}", Html: "<p>{{id}}</p>", Text: "{{id}}" },
      },
      { Template: { TemplateName: "older", SubjectPart: "S", HtmlPart: "<p></p>", TextPart: null } },
    ),
    templates: [
      {
        alias: "order_sent",
        name: "Order_Sent",
        subject: "Sent {{id}}",
        html: "<p>{{id}}</p>",
        text: "{{id}}",
        status: "published",
      },
      { alias: "older", name: "older", subject: "S", html: "<p></p>", text: null },
    ],
  },
  {
    title: "Mailgun: the active version with its headers",
    from: "mailgun",
    text: json({
      template: {
        name: "invoice",
        id: "46565d87-68b6-4edb-8b3c-34554af4bb77",
        description: "d",
        version: {
          template: "<p>{{sum}}</p>",
          engine: "handlebars",
          tag: "initial",
          active: true,
          headers: {
            Subject: "Invoice {{no}}",
            From: "Shop <shop@mg.example>",
            "Reply-To": "help@mg.example",
          },
        },
      },
    }),
    templates: [
      {
        alias: "invoice",
        name: "invoice",
        subject: "Invoice {{no}}",
        html: "<p>{{sum}}</p>",
        text: null,
        sender: "Shop <shop@mg.example>",
        replyTo: ["help@mg.example"],
        status: "published",
      },
    ],
  },
  {
    title: "Resend: a published template and a draft",
    from: "resend",
    text: json(
      {
        object: "template",
        id: "0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2",
        alias: null,
        name: "Hello",
        status: "published",
        subject: "Hi {{{NAME}}}",
        from: "Ann <ann@rs.example>",
        reply_to: ["ben@rs.example"],
        html: "<p>{{{NAME}}}</p>",
        text: null,
        variables: [{ id: "v", key: "NAME", type: "string", fallback_value: "friend" }],
      },
      {
        object: "template",
        id: "0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d3",
        alias: "draft-one",
        name: "Draft",
        status: "draft",
        subject: null,
        from: null,
        reply_to: null,
        html: "<p>{{{COUNT}}}</p>",
        text: "",
        variables: [{ key: "COUNT", type: "number", fallback_value: 3 }],
      },
    ),
    templates: [
      {
        alias: "resend-0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2",
        name: "Hello",
        sender: "Ann <ann@rs.example>",
        replyTo: ["ben@rs.example"],
        html: "<p>{{{NAME}}}</p>",
        status: "published",
        fallbacks: { NAME: "friend" },
      },
      {
        alias: "draft-one",
        name: "Draft",
        html: "<p>{{{COUNT}}}</p>",
        text: null,
        status: "draft",
        fallbacks: { COUNT: 3 },
      },
    ],
  },
];
