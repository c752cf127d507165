type AddResult = { added: number; changed: number; existing: number };

const count = (n: number): string => `${n.toLocaleString("en")} ${n === 1 ? "address" : "addresses"}`;

/** "2 addresses suppressed, 1 already on the list". */
export function formatAdded({ added, changed, existing }: AddResult): string {
  const parts = [
    added === 0 ? "" : `${count(added)} suppressed`,
    changed === 0 ? "" : `${changed.toLocaleString("en")} now suppressed for all email`,
    existing === 0 ? "" : `${existing.toLocaleString("en")} already on the list`,
  ].filter(Boolean);
  return parts.join(", ") || "No addresses added";
}
