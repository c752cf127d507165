/** A planted fault: one condition, value or clause of a line that carries a promise. */
export type Fault = {
  /** What is broken, one plain sentence. */
  name: string;
  /** Path from the root. */
  file: string;
  /** Occurs exactly once in the file. */
  from: string;
  to: string;
  /** Test files (paths from the root) one of which must fail. */
  suites: string[];
};
