import { newId } from "#server/ids";
import type { Console } from "../../support/console";
import type { Party } from "../../support/parties";
import type { ProcedureCalls } from "./call";

export function emailCalls({ house }: Console): ProcedureCalls {
  const emailOf = async ({ ctx }: Party) =>
    (await house.send({ sender: "ann@posthorn.test", to: ["delivered@posthorn.test"] }, ctx)).id;

  return {
    "emails.list": { input: async () => ({ after: newId() }), names: ["after", "before"] },
    "emails.get": { input: async (party) => ({ id: await emailOf(party) }), names: ["id"] },
    "emails.content": { input: async (party) => ({ id: await emailOf(party) }), names: ["id"] },
    "emails.html": { input: async (party) => ({ id: await emailOf(party) }), names: ["id"] },
  };
}
