/** Characters of a value on one line; with name and quotes it stays below 78. */
const sectionLength = 50;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * A parameter of a content field, each line folded before it. ASCII stands quoted; anything else is percent-encoded and,
 * when long, continued by RFC 2231 sections 3 and 4, before a plain ASCII form for readers that know neither. Of the two
 * Python's reader takes the one that comes first.
 */
export function parameter(name: string, value: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(value);
  if (isPlain && value.length <= sectionLength) return `;\r\n ${name}=${quote(value)}`;
  const sections = sectionsOf(value);
  const whole =
    sections.length === 1
      ? `;\r\n ${name}*=UTF-8''${sections[0]}`
      : sections.map((section, n) => `;\r\n ${name}*${n}*=${n === 0 ? "UTF-8''" : ""}${section}`).join("");
  return `${whole};\r\n ${name}=${quote(asciiOf(value))}`;
}

const quote = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** A short name that every reader can show, keeping the extension. */
function asciiOf(value: string): string {
  const ascii = value.replace(/[^\x20-\x7e]+/g, "_");
  const extension = /\.[A-Za-z0-9]{1,8}$/.exec(ascii)?.[0] ?? "";
  return ascii.length <= sectionLength ? ascii : ascii.slice(0, sectionLength - extension.length) + extension;
}

/** The percent-encoded value, cut between characters. */
function sectionsOf(value: string): string[] {
  const sections = [""];
  for (const { segment } of graphemes.segment(value)) {
    for (const part of encode(segment)) {
      const last = sections.at(-1) ?? "";
      if (last.length + part.length > sectionLength) sections.push(part);
      else sections[sections.length - 1] = last + part;
    }
  }
  return sections;
}

/** A character in one piece, or, where one is longer than a line, in its code points. */
function encode(segment: string): string[] {
  const whole = percent(segment);
  return whole.length <= sectionLength ? [whole] : Array.from(segment, percent);
}

const percent = (text: string): string =>
  encodeURIComponent(text).replace(/['()*!]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
