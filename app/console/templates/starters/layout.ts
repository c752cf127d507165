import type { VariableValues } from "#server/services/templates/render";

/** The initial content of a new template, with values for its preview. */
export type Starter = {
  value: string;
  label: string;
  hint: string;
  subject: string;
  html: string;
  /** Null: generated from the HTML. */
  text: string | null;
  samples: VariableValues;
};

/*
 * Outlook renders with Word: it needs tables, a fixed width in a conditional comment, and the color and the
 * padding of a button in a cell. Gmail removes a style sheet that it cannot read, so everything that matters
 * is inline; the sheet only adds the dark colors and the narrow margins of phones. No image is loaded.
 */
const DARK = `
      @media (prefers-color-scheme: dark) {
        .page { background: #16161a !important; }
        .card { background: #222228 !important; }
        .ink { color: #f2f2f5 !important; }
        .soft { color: #a9a9b6 !important; }
        .link { color: #b3aeff !important; }
        .line { border-color: #3a3a44 !important; }
      }
      @media (max-width: 600px) {
        .card { padding: 28px 22px !important; }
      }`;

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const TABLE = 'role="presentation" cellpadding="0" cellspacing="0" border="0"';

type Parts = {
  /** The line that lists of emails show after the subject. */
  preheader: string;
  body: readonly string[];
  /** Why the recipient gets this email. */
  footer: string;
};

/**
 * A whole HTML document: a card of 560 pixels on a plain background, with the name of the product above it.
 */
export const page = ({ preheader, body, footer }: Parts): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="supported-color-schemes" content="light dark">
    <meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
    <title>{{product}}</title>
    <style>${DARK}
    </style>
  </head>
  <body class="page" style="margin:0; padding:0; background:#f4f4f6; ${FONT}">
    <div style="display:none; max-height:0; overflow:hidden; mso-hide:all">${preheader}</div>
    <table ${TABLE} width="100%" class="page" bgcolor="#f4f4f6" style="background:#f4f4f6">
      <tr>
        <td align="center" style="padding:32px 12px">
          <!--[if mso]><table ${TABLE} width="560"><tr><td><![endif]-->
          <table ${TABLE} width="100%" style="max-width:560px">
            <tr>
              <td class="ink" style="padding:0 4px 16px; ${FONT}; font-size:17px; font-weight:bold; color:#1c1c20">{{product}}</td>
            </tr>
            <tr>
              <td class="card" bgcolor="#ffffff" style="padding:36px; background:#ffffff; border-radius:12px">
${body.join("\n")}
              </td>
            </tr>
            <tr>
              <td class="soft" style="padding:20px 4px 0; ${FONT}; font-size:13px; line-height:1.5; color:#62626e">${footer}</td>
            </tr>
          </table>
          <!--[if mso]></td></tr></table><![endif]-->
        </td>
      </tr>
    </table>
  </body>
</html>
`;

const INDENT = "                ";

export const title = (text: string): string =>
  `${INDENT}<h1 class="ink" style="margin:0 0 16px; ${FONT}; font-size:24px; line-height:1.3; color:#1c1c20">${text}</h1>`;

export const paragraph = (text: string): string =>
  `${INDENT}<p class="ink" style="margin:0 0 16px; ${FONT}; font-size:16px; line-height:1.6; color:#1c1c20">${text}</p>`;

/** Small text below the main content. */
export const note = (text: string): string =>
  `${INDENT}<p class="soft" style="margin:0 0 12px; ${FONT}; font-size:14px; line-height:1.5; color:#62626e">${text}</p>`;

export const button = (href: string, label: string): string =>
  `${INDENT}<table ${TABLE} style="margin:8px 0 24px">
${INDENT}  <tr>
${INDENT}    <td bgcolor="#4b43c4" style="border-radius:8px; background:#4b43c4; mso-padding-alt:13px 24px"><a href="${href}" style="display:inline-block; padding:13px 24px; mso-padding-alt:0; ${FONT}; font-size:16px; font-weight:bold; color:#ffffff; text-decoration:none">${label}</a></td>
${INDENT}  </tr>
${INDENT}</table>`;

/** A table of full width with these rows. */
export const table = (...rows: string[]): string =>
  `${INDENT}<table ${TABLE} width="100%" style="margin:8px 0 24px">
${rows.join("\n")}
${INDENT}</table>`;

/** A row with a name, and its value at the right. */
export const row = (name: string, value: string, isStrong = false): string => {
  const weight = isStrong ? "; font-weight:bold" : "";
  const style = `padding:12px 0; border-top:1px solid #e4e4ea; ${FONT}; font-size:15px; line-height:1.5; color:#1c1c20${weight}`;
  return `${INDENT}  <tr>
${INDENT}    <td class="ink line" style="${style}">${name}</td>
${INDENT}    <td class="ink line" align="right" valign="top" style="${style}; padding-left:16px; white-space:nowrap">${value}</td>
${INDENT}  </tr>`;
};

/** A row over the whole width. */
export const entry = (content: string): string =>
  `${INDENT}  <tr>
${INDENT}    <td class="ink line" style="padding:16px 0; border-top:1px solid #e4e4ea; ${FONT}; font-size:15px; line-height:1.6; color:#1c1c20">${content}</td>
${INDENT}  </tr>`;

/** A tag of a block on a line of its own, which the result does not have. */
export const tag = (text: string): string => `${INDENT}${text}`;

export const link = (href: string, label: string): string =>
  `<a href="${href}" class="link" style="color:#4b43c4">${label}</a>`;

/** A link that shows its address. A long one is broken anywhere, so that it does not widen the card. */
export const bareLink = (href: string): string =>
  `<a href="${href}" class="link" style="color:#4b43c4; word-break:break-all">${href}</a>`;
