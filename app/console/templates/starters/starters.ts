/** The initial content of a new template. */
export type Starter = { value: string; label: string; hint: string; subject: string; html: string };

const page = (body: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
  </head>
  <body style="margin:0; background:#f5f5f7; font-family:Helvetica, Arial, sans-serif; color:#1c1c20">
    <table role="presentation" width="100%" cellpadding="0" cellspacing="0">
      <tr>
        <td align="center" style="padding:32px 12px">
          <table role="presentation" width="560" cellpadding="0" cellspacing="0" style="max-width:100%; background:#ffffff; border-radius:10px">
            <tr>
              <td style="padding:32px 36px; font-size:16px; line-height:1.6">
${body}
              </td>
            </tr>
          </table>
        </td>
      </tr>
    </table>
  </body>
</html>
`;

const button = (href: string, label: string) =>
  `                <p style="margin:24px 0"><a href="${href}" style="display:inline-block; padding:12px 22px; background:#4b43c4; color:#ffffff; border-radius:8px; text-decoration:none">${label}</a></p>`;

/** Small layouts of tables and inline styles, which all email clients display in the same way. */
export const STARTERS: readonly Starter[] = [
  {
    value: "letter",
    label: "Letter",
    hint: "A greeting and a few paragraphs on a white background.",
    subject: "Welcome, {{NAME}}",
    html: page(`                <p style="margin:0 0 16px">Hello {{NAME}},</p>
                <p style="margin:0">thank you for signing up.</p>`),
  },
  {
    value: "action",
    label: "One button",
    hint: "To confirm an address, reset a password or accept an invitation.",
    subject: "Please confirm your address",
    html: page(`                <p style="margin:0 0 8px; font-size:20px; font-weight:bold">Confirm your address</p>
                <p style="margin:0">Hello {{NAME}}, click the button to confirm that this address is yours.</p>
${button("{{LINK}}", "Confirm address")}
                <p style="margin:0; font-size:13px; color:#62626e">If you did not request this, you can ignore this email.</p>`),
  },
  {
    value: "receipt",
    label: "Receipt",
    hint: "The number and total of an order, with a link to it.",
    subject: "Your receipt for order {{ORDER}}",
    html: page(`                <p style="margin:0 0 8px; font-size:20px; font-weight:bold">Thank you, {{NAME}}</p>
                <table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin:16px 0; font-size:15px">
                  <tr><td style="padding:8px 0; border-top:1px solid #e4e4ea">Order</td><td align="right" style="padding:8px 0; border-top:1px solid #e4e4ea">{{ORDER}}</td></tr>
                  <tr><td style="padding:8px 0; border-top:1px solid #e4e4ea">Total</td><td align="right" style="padding:8px 0; border-top:1px solid #e4e4ea"><b>{{TOTAL}}</b></td></tr>
                </table>
${button("{{LINK}}", "View order")}`),
  },
  {
    value: "blank",
    label: "Empty",
    hint: "For your own HTML from an editor or a build.",
    subject: "",
    html: "<p>Hello {{NAME}}</p>\n",
  },
];
