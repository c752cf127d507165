import { parseJson } from "#server/shared/text/parse-json";

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g;
const CLOSING: Record<string, string> = { "{": "}", "[": "]" };
/** A deeper text is not indented, because its indentation would be many times its size. */
const depthMax = 30;

/**
 * A JSON object or array with one field or item per line. Names and values keep their exact characters: a
 * number that JavaScript would round is not changed. Null for any other text.
 */
export function formatJson(text: string): string | null {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return null;
  const tokens = text.match(TOKENS) ?? [];
  let depth = 0;
  let formatted = "";
  const newLine = () => `\n${"  ".repeat(depth)}`;
  for (const [index, token] of tokens.entries()) {
    const closing = CLOSING[token];
    if (closing !== undefined) {
      depth += 1;
      if (depth > depthMax) return null;
      formatted += tokens[index + 1] === closing ? token : token + newLine();
    } else if (token === "}" || token === "]") {
      depth -= 1;
      formatted += CLOSING[tokens[index - 1] ?? ""] === token ? token : newLine() + token;
    } else formatted += token === "," ? token + newLine() : token === ":" ? ": " : token;
  }
  return formatted;
}
