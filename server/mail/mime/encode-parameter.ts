import { encodeWords, graphemes, quoteName } from "./encode-header";

/** Maximum characters of a value per line; with name and quotes the line stays below 78 characters. */
const sectionLength = 50;

/**
 * Formats a parameter of a content field, on a new line. ASCII is quoted. Other values are percent-encoded
 * and, if long, continued (RFC 2231 sections 3 and 4); a plain ASCII form for older clients follows. This
 * order matters: Python's parser uses the first form. A value that resembles an encoded word becomes encoded
 * words: many clients decode these even here, some after RFC 2231, and would otherwise decode hidden content.
 */
export function parameter(name: string, value: string): string {
  if (value.includes("=?")) return `;\r\n ${name}="${encodeWords(value)}"`;
  const isPlain = /^[\x20-\x7e]*$/.test(value);
  if (isPlain && value.length <= sectionLength) return `;\r\n ${name}=${quoteName(value)}`;
  const sections = sectionsOf(value);
  const whole =
    sections.length === 1
      ? `;\r\n ${name}*=UTF-8''${sections[0]}`
      : sections.map((section, n) => `;\r\n ${name}*${n}*=${n === 0 ? "UTF-8''" : ""}${section}`).join("");
  return `${whole};\r\n ${name}=${quoteName(asciiOf(value))}`;
}

/** A short ASCII name that every client can display; keeps the extension. */
function asciiOf(value: string): string {
  const ascii = value.replace(/[^\x20-\x7e]+/g, "_");
  const extension = /\.[A-Za-z0-9]{1,8}$/.exec(ascii)?.[0] ?? "";
  return ascii.length <= sectionLength ? ascii : ascii.slice(0, sectionLength - extension.length) + extension;
}

/** The percent-encoded value, split between characters. */
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

/** Encodes a character as one unit, or by code point if it is longer than a line. */
function encode(segment: string): string[] {
  const whole = percent(segment);
  return whole.length <= sectionLength ? [whole] : Array.from(segment, percent);
}

const percent = (text: string): string =>
  encodeURIComponent(text).replace(/['()*!]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
