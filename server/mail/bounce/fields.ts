/** A header field: its name in lower case, its value unfolded and trimmed. */
export type Field = { name: string; value: string };

const fieldsMax = 500;
const valueCharsMax = 4_000;

/**
 * Parses the fields of a header or of a block in a delivery report (RFC 5322 section 2.2). Invalid lines are
 * skipped. Reads at most `fieldsMax` fields and `valueCharsMax` characters of each value. Takes linear time.
 */
export function parseFields(block: string): Field[] {
  const fields: Field[] = [];
  let open: { name: string; lines: string[]; chars: number } | undefined;
  const close = () => {
    if (open) fields.push({ name: open.name, value: open.lines.join(" ").trim() });
    open = undefined;
  };
  // Without `split`: a block of a megabyte has many more lines than are read.
  for (let from = 0, to = 0; from <= block.length; from = to + 1) {
    to = block.indexOf("\n", from);
    if (to === -1) to = block.length;
    const line = block.slice(from, to);
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

/** The value of the first field with this lower-case name; null if there is none. */
export const findField = (fields: readonly Field[], name: string): string | null =>
  fields.find((field) => field.name === name)?.value ?? null;

/** The values of all fields with this lower-case name. */
export const findFields = (fields: readonly Field[], name: string): string[] =>
  fields.filter((field) => field.name === name).map(({ value }) => value);

const addressCharsMax = 320;

/** Finds up to `limit` email addresses in a header value or a line of text, without brackets and comments. */
export function findAddresses(text: string, limit = 20): string[] {
  const found: string[] = [];
  for (const word of text.slice(0, valueCharsMax).split(/[\s<>()[\],;"']+/)) {
    // The lookbehind prevents quadratic time on a long run of dots.
    const address = word.replace(/^mailto:/i, "").replace(/(?<![.:])[.:]+$/, "");
    if (address.length <= addressCharsMax && /^[^@]+@[^@]+$/.test(address)) found.push(address);
    if (found.length >= limit) break;
  }
  return found;
}

/** Splits the type from the value of a report field: `rfc822; ann@example.com` has the type `rfc822`. */
export function splitType(value: string): { type: string; value: string } {
  const semicolon = value.indexOf(";");
  if (semicolon === -1) return { type: "", value: value.trim() };
  return {
    type: value.slice(0, semicolon).trim().toLowerCase(),
    value: value.slice(semicolon + 1).trim(),
  };
}
