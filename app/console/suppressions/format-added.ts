type AddResult = { added: number; existing: number };

const count = (n: number): string => `${n.toLocaleString("en")} ${n === 1 ? "address" : "addresses"}`;

/** "2 addresses suppressed, 1 already on the list". */
export function formatAdded({ added, existing }: AddResult): string {
  const already = existing === 0 ? "" : `${existing.toLocaleString("en")} already on the list`;
  if (added === 0) return already || "No addresses added";
  return [`${count(added)} suppressed`, already].filter(Boolean).join(", ");
}
