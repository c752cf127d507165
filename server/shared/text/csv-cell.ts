/** The start of a formula in spreadsheet programs, after any number of escaping apostrophes. */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** Escapes a cell, so that a spreadsheet program shows it as text and does not evaluate it. */
export const defuseCell = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

/** The inverse of `defuseCell`. */
export const restoreCell = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
