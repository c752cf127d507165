import { expect } from "vitest";

const said = (message: RegExp | string) =>
  typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message);

/** The reply of the API that rejects a call: its status, and what its message says. */
export const rejected = (status: number, message: RegExp | string) => ({
  status,
  body: { message: said(message) },
});

/** The result of a procedure that rejects a call: what its message says, or the code of the error. */
export const refused = (message: RegExp) => ({ ok: false, message: said(message) });
