import hljs from "highlight.js/lib/common";
import { escapeHtml } from "#server/shared/text/escape-html";

/** A block of code in a language of which neighbours become tabs. */
export type Sample = { label: string; language: string; text: string };

/** The labels of these languages. */
const LABELS: Record<string, string> = {
  sh: "curl",
  bash: "curl",
  js: "Node",
  javascript: "Node",
  python: "Python",
  php: "PHP",
  ruby: "Ruby",
};

/** A block with its info string: `js`, or `js Next.js` with a label. Null in any other language. */
export function parseSample(info: string, text: string): Sample | null {
  const [language = "", ...words] = info.split(" ");
  const name = LABELS[language];
  return name === undefined ? null : { label: words.join(" ") || name, language, text };
}

/** A block of code with its syntax marked, to which the script adds a button that copies it. */
export function renderCode(text: string, language: string): string {
  const code = hljs.getLanguage(language) ? hljs.highlight(text, { language }).value : escapeHtml(text);
  // A scrollable element must be reachable with the keyboard.
  return `<div class="code"><pre tabindex="0"${language ? ` data-language="${escapeHtml(language)}"` : ""}><code>${code}</code></pre></div>\n`;
}

/** The same sample in several languages. The script makes tabs of them; without it each has a heading. */
export function renderSamples(samples: readonly Sample[]): string {
  const [first] = samples;
  if (samples.length === 1 && first) return renderCode(first.text, first.language);
  const parts = samples.map(({ label, language, text }) => {
    const name = escapeHtml(label);
    return `<div class="sample" data-label="${name}"><p class="label">${name}</p>${renderCode(text, language)}</div>`;
  });
  return `<div class="samples">\n${parts.join("\n")}\n</div>\n`;
}
