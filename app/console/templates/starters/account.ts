import { bareLink, button, entry, note, page, paragraph, type Starter, table, tag, title } from "./layout";

export const WELCOME: Starter = {
  value: "welcome",
  label: "Welcome",
  hint: "A greeting after the sign-up, with the first steps.",
  subject: "Welcome to {{product}}{{#if name}}, {{name}}{{/if}}",
  html: page({
    preheader: "Your account is ready. Here is how to begin.",
    body: [
      title("Welcome{{#if name}}, {{name}}{{/if}}"),
      paragraph("Your {{product}} account is ready."),
      tag("{{#if steps}}"),
      paragraph("These steps take a few minutes:"),
      table(
        tag("{{#each steps}}"),
        entry("<b>{{title}}</b>{{#if text}}<br>{{text}}{{/if}}"),
        tag("{{/each}}"),
      ),
      tag("{{/if}}"),
      button("{{link}}", "Open {{product}}"),
      note("Questions? Reply to this email."),
    ],
    footer: "You receive this email because you created an account at {{product}}.",
  }),
  text: `Welcome{{#if name}}, {{name}}{{/if}}

Your {{product}} account is ready: {{link}}

{{#if steps}}
These steps take a few minutes:
{{#each steps}}
- {{title}}{{#if text}}: {{text}}{{/if}}
{{/each}}

{{/if}}
Questions? Reply to this email.
`,
  samples: {
    product: "Alder & Oak",
    name: "Ann",
    link: "https://example.com/start",
    steps: [
      { title: "Add your workshop", text: "Its address appears on every invoice." },
      { title: "Invite a colleague", text: "" },
    ],
  },
};

export const RESET: Starter = {
  value: "reset",
  label: "Password reset",
  hint: "A link that is valid for a limited time.",
  subject: "Reset your {{product}} password",
  html: page({
    preheader: "The link is valid for {{minutes}} minutes.",
    body: [
      title("Reset your password"),
      paragraph(
        "{{#if name}}Hello {{name}}, use{{else}}Use{{/if}} this button to choose a new password for your {{product}} account. It works once, within {{minutes}} minutes.",
      ),
      button("{{link}}", "Choose a new password"),
      note(`If the button does not work, open this address:<br>${bareLink("{{link}}")}`),
      note("If you did not request this, ignore this email. Your password stays the same."),
    ],
    footer: "You receive this email because a password reset was requested for this address.",
  }),
  text: `{{#if name}}Hello {{name}},

{{/if}}
Choose a new password for your {{product}} account. The link works once, within {{minutes}} minutes:
{{link}}

If you did not request this, ignore this email. Your password stays the same.
`,
  samples: { product: "Alder & Oak", name: "Ann", minutes: "30", link: "https://example.com/reset/7f3a" },
};

export const INVITATION: Starter = {
  value: "invitation",
  label: "Invitation",
  hint: "An invitation to a team, with an optional message.",
  subject: "{{inviter}} invites you to {{team}}",
  html: page({
    preheader: "Accept the invitation to join {{team}} at {{product}}.",
    body: [
      title("Join {{team}}"),
      paragraph("{{inviter}} invites you to work together in {{team}} at {{product}}."),
      tag("{{#if message}}"),
      table(entry("<i>{{message}}</i>")),
      tag("{{/if}}"),
      button("{{link}}", "Accept invitation"),
      tag("{{#if expires}}"),
      note("The invitation expires on {{expires}}."),
      tag("{{/if}}"),
      note("If you do not know {{inviter}}, ignore this email."),
    ],
    footer: "You receive this email because {{inviter}} entered your address.",
  }),
  text: `{{inviter}} invites you to {{team}} at {{product}}.

{{#if message}}
"{{message}}"

{{/if}}
Accept the invitation: {{link}}
{{#if expires}}
It expires on {{expires}}.
{{/if}}

If you do not know {{inviter}}, ignore this email.
`,
  samples: {
    product: "Alder & Oak",
    inviter: "Ben Oak",
    team: "Workshop Riga",
    message: "We plan the autumn orders here.",
    link: "https://example.com/join/51c0",
    expires: "14 December 2026",
  },
};
