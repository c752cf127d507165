import { escapeHtml } from "#server/shared/text/escape-html";
import type { SystemEmailContent } from "./texts";

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif";

/** The text part. The link is on its own line. */
export const renderText = ({ heading, paragraphs, action, afterwards }: SystemEmailContent): string =>
  `${[heading, ...paragraphs, `${action.label}:\n${action.url}`, ...afterwards, "Backstamp"].join("\n\n")}\n`;

/** The HTML part with the same content. It loads no external resources and supports dark mode. */
export function renderHtml({ subject, heading, paragraphs, action, afterwards }: SystemEmailContent): string {
  const url = escapeHtml(action.url);
  const paragraph = (style: string) => (text: string) => `<p style="${style}">${escapeHtml(text)}</p>`;
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    `<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">`,
    `<title>${escapeHtml(subject)}</title></head>`,
    `<body style="margin:0;padding:32px 16px;${FONT};font-size:16px;line-height:24px">`,
    `<div style="max-width:480px;margin:0 auto">`,
    `<h1 style="margin:0 0 16px;font-size:20px;line-height:28px">${escapeHtml(heading)}</h1>`,
    ...paragraphs.map(paragraph("margin:0 0 16px")),
    `<p style="margin:24px 0"><a href="${url}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#4b43c4;color:#ffffff;font-weight:600;text-decoration:none">${escapeHtml(action.label)}</a></p>`,
    ...afterwards.map(paragraph("margin:0 0 12px;font-size:14px;line-height:20px;opacity:.75")),
    `<p style="margin:24px 0 0;font-size:13px;line-height:20px;opacity:.75">If the button does not work, open this link:<br><a href="${url}" style="color:inherit;overflow-wrap:anywhere">${url}</a></p>`,
    `</div></body></html>`,
  ].join("\n");
}
