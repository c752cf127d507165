import type { IncomingMessage } from "node:http";
import { parseAndValidateFlightRouterState } from "next/dist/server/app-render/parse-and-validate-flight-router-state.js";
import type { PageFault } from "./page-faults";

const HEADER = "next-router-state-tree";

/** Finds requests with a router state that Next, by its own rule, would answer with 500. */
export function findRouterStateFault({ headers }: Pick<IncomingMessage, "headers">): PageFault | null {
  const state = headers[HEADER];
  if (state === undefined) return null;
  try {
    parseAndValidateFlightRouterState(state);
    return null;
  } catch {
    const message = `The header ${HEADER} is not valid. Leave it out: only the pages themselves send it.`;
    return { status: 400, name: "validation_error", message };
  }
}
