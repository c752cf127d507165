import type { z } from "zod";
import { AppError } from "#server/errors";

/**
 * Parses a value by its schema and turns the first fault into a sentence that names the field. An unknown field is
 * refused by name: a mistyped one must never be dropped silently.
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, what: "body" | "query"): T {
  const read = schema.safeParse(value, { reportInput: true });
  if (read.success) return read.data;
  const issue = deepest(read.error.issues[0]);
  if (!issue) throw new AppError("invalid", `The ${what} is not valid.`);
  const field = issue.path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.map((key) => `\`${field === "" ? key : `${field}.${key}`}\``).join(", ");
    throw new AppError("invalid", `Unknown ${what === "query" ? "query parameter" : "field"} ${names}.`);
  }
  if (issue.code === "invalid_type" && issue.input === undefined && field !== "")
    throw new AppError("missing_field", `Missing \`${field}\` field.`);
  throw new AppError("invalid", field === "" ? issue.message : `Invalid \`${field}\`: ${issue.message}`);
}

type Issue = z.core.$ZodIssue;

/** Of a union's branches the one that came closest says best what is wrong. */
function deepest(issue: Issue | undefined): Issue | undefined {
  if (issue?.code !== "invalid_union") return issue;
  const inner = issue.errors
    .flatMap((branch) => branch.slice(0, 1))
    .map(deepest)
    .filter((found): found is Issue => found !== undefined)
    .sort((a, b) => b.path.length - a.path.length)[0];
  if (!inner || inner.path.length === 0) return { ...issue, message: issue.message || "Invalid input" };
  return { ...inner, path: [...issue.path, ...inner.path] } as Issue;
}
