import { createHash } from "node:crypto";

const hashedChars = 64 * 1024;

/** SHA-256 of the parsed body with sorted field names. Whitespace and field order do not change it. */
export function fingerprintOf(body: unknown): Uint8Array {
  const hash = createHash("sha256");
  let pending = "";
  writeCanonical(body, (text) => {
    pending += text;
    if (pending.length < hashedChars) return;
    hash.update(pending);
    pending = "";
  });
  return hash.update(pending).digest();
}

/**
 * Writes in pieces: the canonical text of a file sent as an array of numbers takes a hundred times its bytes
 * in memory.
 */
function writeCanonical(value: unknown, write: (text: string) => void): void {
  if (Array.isArray(value)) {
    write("[");
    for (let n = 0; n < value.length; n++) {
      if (n > 0) write(",");
      writeCanonical(value[n], write);
    }
    write("]");
  } else if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    write("{");
    for (const [n, [key, item]] of entries.entries()) {
      write(`${n > 0 ? "," : ""}${JSON.stringify(key)}:`);
      writeCanonical(item, write);
    }
    write("}");
  } else write(JSON.stringify(value) ?? "null");
}
