import type { z } from "zod";
import type { Permission } from "#server/shared/roles";
import type { Meta } from "#server/trpc/init";
import { appRouter } from "#server/trpc/router";
import { fieldsOf } from "../support/database/schema-fields";

type Declared = Record<string, { _def: { type: string; meta?: Meta; inputs: z.ZodType[] } }>;
const { procedures: declared } = (appRouter as unknown as { _def: { procedures: Declared } })._def;

/**
 * Every query and mutation as declared; tests/console/live.test.ts covers the one subscription. `inputs` are
 * parsed one after the other, each from the complete input.
 */
export const PROCEDURES = Object.entries(declared)
  .filter(([, { _def }]) => _def.type !== "subscription")
  .map(([name, { _def }]) => ({
    name,
    isMutation: _def.type === "mutation",
    inputs: _def.inputs,
    fields: _def.inputs.flatMap((input) => fieldsOf(input)).filter(({ path }) => path[0] !== "team"),
    ..._def.meta,
  }));
export type Procedure = (typeof PROCEDURES)[number];

/** The procedures of a team, with the permission that each requires. */
export const OF_TEAMS = PROCEDURES.flatMap((each): (Procedure & { permission: Permission })[] =>
  each.permission === undefined ? [] : [{ ...each, permission: each.permission }],
);
