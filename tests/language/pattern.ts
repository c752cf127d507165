import type { Passage } from "./passages";

type Kind = Passage["kind"];

/** Words that the field does not use for a concept, with what to write instead. */
export type Pattern = {
  /** The concept, as the glossary of CONTRIBUTING names it. */
  concept: string;
  pattern: RegExp;
  instead: string;
  /** Where it is looked for. */
  kinds: readonly Kind[];
  /** One sentence or identifier that the pattern must find. */
  planted: string;
};

export const PROSE = ["comment", "text", "test name", "document"] as const satisfies Kind[];
export const ALL = [...PROSE, "identifier"] as const satisfies Kind[];
export const SHOWN = ["text", "document"] as const satisfies Kind[];
export const NAMES = ["identifier"] as const satisfies Kind[];
