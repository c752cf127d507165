import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether suites that cross everything with everything run only a sample: in `npm test`. */
    isSample: boolean;
  }
}

/** All cases in `npm run test:deep`; in `npm test` every `step`th, the same ones in each run. */
export const sampleOf = <Case>(cases: readonly Case[], step: number): Case[] =>
  inject("isSample") ? cases.filter((_, at) => at % step === 0) : [...cases];
