import { inject, test } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether suites that cross everything with everything run only a sample: in `npm test`. */
    isSample: boolean;
  }
}

const step = 27;

/** All cases in `npm run test:deep`; in `npm test` every 27th, the same ones in each run. */
export const sampleOf = <Case>(cases: readonly Case[]): Case[] =>
  inject("isSample") ? cases.filter((_, at) => at % step === 0) : [...cases];

/** Declares a test only in `npm run test:deep`: it calls everything itself. */
export const testWhole = (name: string, run: () => Promise<void>): void => {
  if (!inject("isSample")) test(name, run);
};
