/** Larger comparisons would take too long: everything between the equal beginning and end is then marked. */
const comparisonsMax = 4_000_000;

/** The positions in each list that are not in the longest common subsequence of both. */
export function findChanges(
  before: readonly string[],
  after: readonly string[],
): { before: number[]; after: number[] } {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let [oldEnd, newEnd] = [before.length, after.length];
  while (oldEnd > start && newEnd > start && before[oldEnd - 1] === after[newEnd - 1]) {
    oldEnd--;
    newEnd--;
  }
  const [rows, columns] = [oldEnd - start, newEnd - start];
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
  if (rows * columns > comparisonsMax) return { before: range(start, oldEnd), after: range(start, newEnd) };
  // `lengths` at a row and a column: the longest common subsequence of what follows both.
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      lengths[row * width + column] =
        before[start + row] === after[start + column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const changes = { before: [] as number[], after: [] as number[] };
  let [row, column] = [0, 0];
  while (row < rows || column < columns)
    if (row < rows && column < columns && before[start + row] === after[start + column]) {
      row++;
      column++;
    } else if (row < rows && (column === columns || at(row + 1, column) >= at(row, column + 1)))
      changes.before.push(start + row++);
    else changes.after.push(start + column++);
  return changes;
}

export type LineKind = "same" | "removed" | "added";

/** A line of one text or of both. The id differs from those of equal lines. */
type Line = { id: string; kind: LineKind; line: string };

/** The lines of both texts. What was removed stands before what was added in its place. */
export function compareLines(before: string, after: string): Line[] {
  const [old, next] = [before.split("\n"), after.split("\n")];
  const changes = findChanges(old, next);
  const [removed, added] = [new Set(changes.before), new Set(changes.after)];
  const lines: Line[] = [];
  const addRemoved = (at: number) => lines.push({ id: `-${at}`, kind: "removed", line: old[at] ?? "" });
  let at = 0;
  for (const [index, line] of next.entries()) {
    for (; removed.has(at); at++) addRemoved(at);
    if (!added.has(index)) at++;
    lines.push({ id: `+${index}`, kind: added.has(index) ? "added" : "same", line });
  }
  for (; at < old.length; at++) addRemoved(at);
  return lines;
}
