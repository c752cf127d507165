import type { ProcedureCalls } from "./call";

export const searchCalls = (): ProcedureCalls => ({
  "search.everything": { input: async () => ({ text: "example" }), names: [] },
});
