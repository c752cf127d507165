/** A file below tests/, and how what shows it is called there. */
type Proof = readonly [file: string, ...names: string[]];

/** What may be tried, and where it is shown that it leads to nothing. */
export type Dangers = Record<string, readonly Proof[]>;
