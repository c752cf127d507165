/** Text that a spreadsheet would evaluate as a formula. */
const FORMULA = /^'*[=+\-@\t\r\n]/;

const cell = (text: string): string => `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

/** The rejected lines of an import as a CSV file with line numbers and reasons. */
export function rejectedLinesFile(faults: readonly { line: number; message: string }[]): Blob {
  const lines = [["line", "reason"], ...faults.map(({ line, message }) => [String(line), message])];
  return new Blob([lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("")], {
    type: "text/csv;charset=utf-8",
  });
}
