import { z } from "zod";
import { AppError, type ErrorCode } from "#server/errors";
import { isId } from "#server/ids";

/**
 * Parses a value by its schema and turns the first fault into a sentence that names the field and says what would work.
 * An unknown field is refused by name: a mistyped one must never be dropped silently.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, what: "body" | "query"): T {
  const read = schema.safeParse(value, { reportInput: true });
  if (read.success) return read.data;
  // A mistyped name explains the field that seems to be missing, so it comes first.
  const issue = read.error.issues.find(({ code }) => code === "unrecognized_keys") ?? read.error.issues.at(0);
  if (!issue) throw new AppError("invalid", `The ${what} is not valid.`);
  const field = nameOf(issue.path);
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.map((key) => `\`${nameOf([...issue.path, key.slice(0, 60)])}\``).slice(0, 10);
    const kind = what === "query" ? "query parameter" : "field";
    throw new AppError(
      "invalid",
      `Unknown ${kind}${names.length > 1 ? "s" : ""} ${names.join(", ")}. ${knownNames(schema, issue.path)}`.trim(),
    );
  }
  if (issue.code === "invalid_type" && issue.input === undefined && field !== "")
    throw new AppError("missing_field", `Missing \`${field}\` field. ${issue.message}`);
  const message = field === "" ? issue.message : `Invalid \`${field}\`: ${issue.message}`;
  throw new AppError(codeOf(issue), message);
}

/** A schema gives a fault of its own an error of its own as `params: { error: "invalid_attachment" }`. */
function codeOf(issue: z.core.$ZodIssue): ErrorCode {
  return issue.code === "custom" && issue.params?.error === "invalid_attachment"
    ? "invalid_attachment"
    : "invalid";
}

/** The id in a path. It must be a UUID; whether it exists, and whose it is, is asked later and answered alike. */
export function requireId(params: Record<string, string>, name: string): string {
  const id = params[name] ?? "";
  if (isId(id)) return id;
  throw new AppError(
    "invalid_parameter",
    `Invalid \`${name}\` in the path: it must be a UUID, as the service returned it.`,
  );
}

/** `to[0]`, `template.variables.NAME`: a path as one would write it in code. */
function nameOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

/** What the top level does know, for whoever mistyped a name. */
function knownNames(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const fields = schema instanceof z.ZodPipe ? schema.in : schema;
  if (path.length > 0 || !(fields instanceof z.ZodObject)) return "";
  const names = Object.keys(fields.shape);
  return names.length === 0 ? "" : `Known: ${names.join(", ")}.`;
}
