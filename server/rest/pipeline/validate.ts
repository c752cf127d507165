import { z } from "zod";
import { AppError, type ErrorCode } from "#server/platform/errors";
import { isId } from "#server/platform/ids";

/**
 * Parses a value with its schema. The first issue becomes an error that names the field and a valid value. An
 * unknown field is rejected by name: a typo must never be dropped silently.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, what: "body" | "query"): T {
  const read = schema.safeParse(value, { reportInput: true });
  if (read.success) return read.data;
  // A mistyped field name also causes a "missing field" issue, so report the unknown name first.
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

/** A schema selects another error code with `params: { error: "invalid_attachment" }` in a custom issue. */
function codeOf(issue: z.core.$ZodIssue): ErrorCode {
  return issue.code === "custom" && issue.params?.error === "invalid_attachment"
    ? "invalid_attachment"
    : "invalid";
}

/**
 * The id in a path, which must be a UUID. The service returns the same 404 for a missing id and for another
 * team's.
 */
export function requireId(params: Record<string, string>, name: string): string {
  const id = params[name] ?? "";
  if (isId(id)) return id;
  throw new AppError(
    "invalid_parameter",
    `Invalid \`${name}\` in the path: it must be a UUID returned by the API.`,
  );
}

/** A path in code notation: `to[0]`, `template.variables.NAME`. */
function nameOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

/** The known fields of the top level, as a hint for a mistyped name. */
function knownNames(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const fields = schema instanceof z.ZodPipe ? schema.in : schema;
  if (path.length > 0 || !(fields instanceof z.ZodObject)) return "";
  const names = Object.keys(fields.shape);
  return names.length === 0 ? "" : `Known: ${names.join(", ")}.`;
}
