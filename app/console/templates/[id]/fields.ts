import type { TemplateView } from "#server/trpc/template-views";
import { keysIn } from "./tags";

/** A variable as its row in the table shows it, while somebody types. */
export type VariableField = { key: string; type: "string" | "number"; isRequired: boolean; fallback: string };

/** What stands in the editor. An empty line is none; `text` null is made from the HTML, and "" means no text part. */
export type Fields = {
  subject: string;
  html: string;
  text: string | null;
  from: string;
  replyTo: string;
  variables: VariableField[];
};

/** What was read from the server, or written to it, last. */
export type Base = { revision: number; number: number; publishedNumber: number | null; fields: Fields };

type Content = Pick<TemplateView["content"], "subject" | "html" | "text" | "from" | "replyTo" | "variables">;

/** A version's content as the editor's fields. */
export const fieldsOf = ({ subject, html, text, from, replyTo, variables }: Content): Fields => ({
  subject: subject ?? "",
  html,
  text,
  from: from ?? "",
  replyTo: (replyTo ?? []).join(", "),
  variables: variables.map(({ key, type, fallbackValue }) => ({
    key,
    type,
    isRequired: fallbackValue === null,
    fallback: fallbackValue === null ? "" : String(fallbackValue),
  })),
});

export const baseOf = ({ revision, number, publishedNumber, content }: TemplateView): Base => ({
  revision,
  number,
  publishedNumber,
  fields: fieldsOf(content),
});

/**
 * The variables that these fields come to: declared ones that are used or have a fallback, and whatever is new among the
 * placeholders. It is what the server makes of placeholders that nobody declared.
 */
export function settleVariables({ subject, html, text, variables }: Fields): VariableField[] {
  const used = keysIn(subject, html, text);
  const kept = variables.filter(({ key, isRequired }) => !isRequired || used.includes(key));
  const fresh = used.filter((key) => !kept.some((variable) => variable.key === key));
  return [
    ...kept,
    ...fresh.map((key): VariableField => ({ key, type: "string", isRequired: true, fallback: "" })),
  ];
}

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A number that somebody typed, or null where it is none that survives the way to the server unchanged. */
export function readNumber(text: string): number | null {
  const given = text.trim();
  if (!NUMBER.test(given)) return null;
  const value = Number(given);
  return Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** Why a fallback will not do, or null. */
export const faultOfFallback = ({ type, isRequired, fallback }: VariableField): string | null =>
  !isRequired && type === "number" && readNumber(fallback) === null ? "Give a number." : null;

/** The variables as the server takes them. One with a fallback that will not do has none. */
export const declare = (variables: readonly VariableField[]) =>
  variables.map(({ key, type, isRequired, fallback }) => ({
    key,
    type,
    fallbackValue: isRequired ? null : type === "number" ? readNumber(fallback) : fallback,
  }));

const orNull = (text: string): string | null => text.trim() || null;

/** Fields in the form in which the server takes them. */
function written(fields: Fields) {
  const addresses = fields.replyTo.split(/[\n;]|,(?=[^"]*(?:"[^"]*"[^"]*)*$)/).map((part) => part.trim());
  const replyTo = addresses.filter(Boolean);
  return {
    subject: orNull(fields.subject),
    html: fields.html,
    text: fields.text,
    from: orNull(fields.from),
    replyTo: replyTo.length > 0 ? replyTo : null,
    variables: declare(settleVariables(fields)),
  };
}

export type Change = Partial<ReturnType<typeof written>>;

/** What of the fields a save has to name: what differs from what was there. */
export function changeOf(before: Fields, now: Fields): Change {
  const [old, fresh] = [written(before), written(now)];
  return Object.fromEntries(
    Object.entries(fresh).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name as keyof typeof old]),
    ),
  );
}

/** Names of the fields as people read them. */
export const FIELD_NAMES: Record<keyof Change, string> = {
  subject: "subject",
  html: "HTML",
  text: "text",
  from: "sender",
  replyTo: "reply address",
  variables: "variables",
};

/** "subject, HTML and variables". */
export function sayFields(change: Change): string {
  const names = (Object.keys(change) as (keyof Change)[]).map((name) => FIELD_NAMES[name]);
  return names.length < 2 ? (names[0] ?? "nothing") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
