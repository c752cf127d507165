type Outcome = { added: number; existing: number };

const count = (n: number): string => `${n.toLocaleString("en")} ${n === 1 ? "address" : "addresses"}`;

/** "2 addresses suppressed, 1 was on the list already". */
export function sayAdded({ added, existing }: Outcome): string {
  const already =
    existing === 0
      ? ""
      : `${existing.toLocaleString("en")} ${existing === 1 ? "was" : "were"} on the list already`;
  if (added === 0) return already || "No address was added";
  return [`${count(added)} suppressed`, already].filter(Boolean).join(", ");
}
