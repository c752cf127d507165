import { TRPCError } from "@trpc/server";

const LONE_SURROGATE = /\p{Surrogate}/u;

type Node = { value: object; key: string; parent: Node | null };

/**
 * Rejects an input that contains text which PostgreSQL cannot store, or a `__proto__` field, at any depth;
 * the error names its path. Iterative, so deep nesting cannot overflow the stack.
 */
export function rejectUnstorableText(root: unknown): void {
  const pending: Node[] = [];
  const visit = (value: unknown, key: string, parent: Node | null) => {
    if (typeof value === "string") rejectText(value, key, parent);
    else if (typeof value === "object" && value !== null) pending.push({ value, key, parent });
  };
  visit(root, "", null);
  for (let node = pending.pop(); node; node = pending.pop())
    for (const [key, item] of Object.entries(node.value)) {
      rejectText(key, "", node);
      if (key === "__proto__") reject("must not contain the field __proto__", "", node);
      visit(item, key, node);
    }
}

function rejectText(text: string, key: string, parent: Node | null): void {
  if (text.includes("\0")) reject("must not contain NUL characters", key, parent);
  if (LONE_SURROGATE.test(text)) reject("must not contain half of a surrogate pair", key, parent);
}

/** Maximum number of path segments in an error message. */
const segmentsMax = 8;

function reject(why: string, key: string, parent: Node | null): never {
  const segments = [key];
  for (let at = parent; at && segments.length <= segmentsMax; at = at.parent) segments.unshift(at.key);
  const path = segments.filter((segment) => segment !== "").join(".");
  throw new TRPCError({ code: "BAD_REQUEST", message: `${path || "input"}: ${why}` });
}
