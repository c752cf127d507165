import type { Party } from "../../support/parties";

/** A good call of one procedure. */
export type ProcedureCall = {
  /** What somebody of that team would send, about rows of the team's which are made just now. */
  input: (party: Party) => Promise<Record<string, unknown>>;
  /** The fields of the input that name rows, as paths: `id`, `ids.0`. Every other team's and every missing id is tried there. */
  names: readonly string[];
  /** Puts back what a call that worked took away from the party. */
  afterwards?: (party: Party) => Promise<void>;
};

export type ProcedureCalls = Record<string, ProcedureCall>;
