/** What programs that calculate would take for a formula. */
const FORMULA = /^'*[=+\-@\t\r\n]/;

const cell = (text: string): string => `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

/** The refused lines of an import as a CSV file, to be mended and sent again. */
export function faultsFile(faults: readonly { line: number; message: string }[]): Blob {
  const lines = [["line", "why"], ...faults.map(({ line, message }) => [String(line), message])];
  return new Blob([lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("")], {
    type: "text/csv;charset=utf-8",
  });
}
