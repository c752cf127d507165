import type { RoleTeam } from "../../support/console/role-teams";

/** A valid call of one procedure. */
export type ProcedureCall = {
  /** The input of a member of the team, for rows that it creates first. */
  input: (party: RoleTeam) => Promise<Record<string, unknown>>;
  /**
   * Paths of the id fields of the input: `id`, `ids.0`. Ids of other teams and unknown ids are tested there.
   */
  names: readonly string[];
  /** Restores what a successful call removed. */
  afterwards?: (party: RoleTeam) => Promise<void>;
};

export type ProcedureCalls = Record<string, ProcedureCall>;
