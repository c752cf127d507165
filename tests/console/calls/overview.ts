import type { ProcedureCalls } from "./call";

export const overviewCalls = (): ProcedureCalls => ({
  "overview.traffic": { input: async () => ({ range: "7d" }), names: [] },
  "overview.standing": { input: async () => ({}), names: [] },
  "overview.parts": { input: async () => ({}), names: [] },
});
