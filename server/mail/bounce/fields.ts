/** A header field: its name in lower case, its value unfolded and without the blanks around it. */
export type Field = { name: string; value: string };

const fieldsMax = 500;
const valueCharsMax = 4_000;

/**
 * The fields of one block, as mail headers and delivery reports have them (RFC 5322 section 2.2). Lines that are none are
 * passed over; of very many or very long ones the beginning is read. Linear in the text.
 */
export function readFields(block: string): Field[] {
  const fields: Field[] = [];
  let open: { name: string; lines: string[]; chars: number } | undefined;
  const close = () => {
    if (open) fields.push({ name: open.name, value: open.lines.join(" ").trim() });
    open = undefined;
  };
  for (const line of block.split("\n")) {
    if (/^[ \t]/.test(line)) {
      if (!open || open.chars >= valueCharsMax) continue;
      const more = line.trim().slice(0, valueCharsMax - open.chars);
      open.lines.push(more);
      open.chars += more.length + 1;
      continue;
    }
    close();
    if (fields.length >= fieldsMax) break;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.min(colon, 80)).trimEnd();
    if (colon < 1 || !/^[!-9;-~]+$/.test(name)) continue;
    const value = line.slice(colon + 1, colon + 1 + valueCharsMax).trim();
    open = { name: name.toLowerCase(), lines: [value], chars: value.length };
  }
  close();
  return fields;
}

/** The value of the first field with this name, in lower case; null where there is none. */
export const fieldOf = (fields: readonly Field[], name: string): string | null =>
  fields.find((field) => field.name === name)?.value ?? null;

/** The values of all fields with this name. */
export const fieldsOf = (fields: readonly Field[], name: string): string[] =>
  fields.filter((field) => field.name === name).map(({ value }) => value);

const addressCharsMax = 320;

/** The addresses in a header's value or in a line of text, at most `limit` of them, without brackets and comments. */
export function addressesIn(text: string, limit = 20): string[] {
  const found: string[] = [];
  for (const word of text.slice(0, valueCharsMax).split(/[\s<>()[\],;"']+/)) {
    // Begun anew within a row of dots, the expression would read the rest of the row each time.
    const address = word.replace(/^mailto:/i, "").replace(/(?<![.:])[.:]+$/, "");
    if (address.length <= addressCharsMax && /^[^@]+@[^@]+$/.test(address)) found.push(address);
    if (found.length >= limit) break;
  }
  return found;
}

/** The value behind the type that report fields begin with: of `rfc822; ann@example.com` the address. */
export function withoutType(value: string): { type: string; value: string } {
  const semicolon = value.indexOf(";");
  if (semicolon === -1) return { type: "", value: value.trim() };
  return {
    type: value.slice(0, semicolon).trim().toLowerCase(),
    value: value.slice(semicolon + 1).trim(),
  };
}
