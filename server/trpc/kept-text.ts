import { TRPCError } from "@trpc/server";

const LONE_SURROGATE = /\p{Surrogate}/u;

type Node = { value: object; key: string; up: Node | null };

/**
 * Refuses an input that anywhere holds text which the database cannot keep, or a name that means something to JavaScript
 * itself; the fault names its place. Never recursive, so that nesting cannot exhaust the stack.
 */
export function refuseUnkeepable(root: unknown): void {
  const waiting: Node[] = [];
  const look = (value: unknown, key: string, up: Node | null) => {
    if (typeof value === "string") refuseText(value, key, up);
    else if (typeof value === "object" && value !== null) waiting.push({ value, key, up });
  };
  look(root, "", null);
  for (let node = waiting.pop(); node; node = waiting.pop())
    for (const [key, item] of Object.entries(node.value)) {
      refuseText(key, "", node);
      if (key === "__proto__") refuse("must not have a field __proto__", "", node);
      look(item, key, node);
    }
}

function refuseText(text: string, key: string, up: Node | null): void {
  if (text.includes("\0")) refuse("must not hold NUL", key, up);
  if (LONE_SURROGATE.test(text)) refuse("must not hold half of a surrogate pair", key, up);
}

/** A path is spelled only as far as somebody reads it. */
const placesMax = 8;

function refuse(why: string, key: string, up: Node | null): never {
  const places = [key];
  for (let at = up; at && places.length <= placesMax; at = at.up) places.unshift(at.key);
  const path = places.filter((place) => place !== "").join(".");
  throw new TRPCError({ code: "BAD_REQUEST", message: `${path || "input"}: ${why}` });
}
