import { toUSVString } from "node:util";

/** Limits for the stored part of a body: enough to understand the request. */
const textCharsMax = 200;
const itemsMax = 20;
const fieldsMax = 50;
const depthMax = 6;
const totalCharsMax = 4_000;

/** Fields that contain secrets. Matched by the end of the name: `api_key_id` is not a secret. */
const SECRET_FIELD =
  /(^|[_-])(secret|token|password|passphrase|authorization|cookie|credential|private[_-]?key|api[_-]?key|download_url)s?$/i;
/** Fields that contain message content. */
const CONTENT_FIELD = /^(html|text|content|raw|react)$/;
/** Secrets anywhere in a text: our keys, secrets of endpoints, HTTP credentials, private keys. */
const SECRET_TEXT =
  /\bre_[0-9A-Za-z]+_[0-9A-Za-z_]{8,}|whsec_[0-9A-Za-z+/=]+|\b(Bearer|Basic) +[^\s"]+|-----BEGIN [^-]*PRIVATE KEY-----[\s\S]*/g;
const WEB_ADDRESS = /^(https?:\/\/)(?:[^/?#]*@)?([^?#]*)([?#][\s\S]*)?$/i;

const HIDDEN = "[redacted]";
const OMITTED = "[left out]";

/**
 * A body as JSON for storage and display in the logs: without secrets, message content, files and placeholder
 * values, shortened to about 4,000 characters, and always valid for PostgreSQL. Null for an absent body.
 */
export function redactBody(body: unknown): string | null {
  if (body === undefined || body === null) return null;
  return JSON.stringify(redactValue(body, { left: totalCharsMax }, 0));
}

/** One line of text with its secrets redacted. */
export const redactText = (text: string): string =>
  toUSVString(text.replace(SECRET_TEXT, HIDDEN).replaceAll("\0", "\ufffd"));

type Budget = { left: number };

function redactValue(value: unknown, budget: Budget, depth: number): unknown {
  if (budget.left <= 0) return OMITTED;
  if (typeof value === "string") return spend(budget, shorten(value));
  if (typeof value !== "object" || value === null) return spend(budget, value);
  if (depth === depthMax) return spend(budget, OMITTED);
  if (Array.isArray(value)) return redactItems(value, budget, depth);
  const fields = Object.entries(value);
  const kept: Record<string, unknown> = Object.create(null);
  for (const [name, field] of fields.slice(0, fieldsMax)) {
    if (budget.left <= 0) break;
    kept[spend(budget, redactText(name.slice(0, textCharsMax)))] = redactField(name, field, budget, depth);
  }
  const more = fields.length - Object.keys(kept).length;
  if (more > 0) kept["…"] = `and ${more} more`;
  return kept;
}

function redactItems(items: unknown[], budget: Budget, depth: number): unknown[] {
  const kept: unknown[] = [];
  for (const item of items.slice(0, itemsMax)) {
    if (budget.left <= 0) break;
    kept.push(redactValue(item, budget, depth + 1));
  }
  const more = items.length - kept.length;
  return more > 0 ? [...kept, `… and ${more} more`] : kept;
}

function redactField(name: string, value: unknown, budget: Budget, depth: number): unknown {
  if (value === null || value === "") return spend(budget, value);
  if (SECRET_FIELD.test(name)) return spend(budget, HIDDEN);
  if (CONTENT_FIELD.test(name))
    return spend(budget, typeof value === "string" ? `[${value.length} characters]` : OMITTED);
  // Placeholder values of a template. In a template's declaration, `variables` is an array.
  if (name === "variables" && typeof value === "object" && !Array.isArray(value))
    return redactValue(
      Object.fromEntries(Object.keys(value).map((key) => [key, OMITTED])),
      budget,
      depth + 1,
    );
  return redactValue(value, budget, depth + 1);
}

/**
 * Removes credentials and the query string from URLs, because they may contain keys, and shortens the text.
 */
function shorten(text: string): string {
  const start = text.slice(0, textCharsMax * 2);
  const plain = start.replace(
    WEB_ADDRESS,
    (_, scheme, place, query) => `${scheme}${place}${query ? `?${OMITTED}` : ""}`,
  );
  const shortened = plain.length > textCharsMax ? `${plain.slice(0, textCharsMax)}…` : plain;
  return redactText(shortened);
}

function spend<T>(budget: Budget, value: T): T {
  budget.left -= 4 + (typeof value === "string" ? value.length : 8);
  return value;
}
