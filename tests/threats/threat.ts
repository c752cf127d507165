/** A test file below tests/, and the names of its tests. */
type Evidence = readonly [file: string, ...names: string[]];

/** Each threat with the tests that cover it. */
export type Threats = Record<string, readonly Evidence[]>;
