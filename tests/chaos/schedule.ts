import { createRandom } from "../support/random";
import type { PostgresDeath } from "./death";
import { STAGES_OF, type Stage, VICTIMS, type Victim } from "./records";

/** One death to come: who, when in a mail's way, and after which pause. */
export type PlannedKill = {
  victim: Victim;
  aim: Stage | "random";
  /** Of the ways to reach that moment, where there are two. */
  variant: 0 | 1;
  web: 0 | 1;
  death: PostgresDeath;
  /** Milliseconds of ordinary load before it. */
  pauseMs: number;
};

const pauseMsMax = 400;
const DEATHS: [PostgresDeath, ...PostgresDeath[]] = ["all", "postmaster", "immediate"];
/** Every death that means something, once each. */
const AIMS = VICTIMS.flatMap((victim) => STAGES_OF[victim].map((aim) => ({ victim, aim })));

/**
 * As many deaths as asked for, in an order that the seed decides: every second one is aimed, going round all pairs of
 * victim and stage, the others come at any moment. The same seed gives the same plan.
 */
export function planKills(seed: string, count: number): PlannedKill[] {
  const random = createRandom(`${seed} schedule`);
  const aims = random.shuffled(AIMS);
  const kills = Array.from({ length: count }, (_, n) => {
    const aimed = n % 2 === 0 ? aims[(n / 2) % aims.length] : undefined;
    const { victim, aim } = aimed ?? { victim: random.pick(VICTIMS), aim: "random" as const };
    const variant: 0 | 1 = random.chance(0.5) ? 1 : 0;
    const web: 0 | 1 = random.chance(0.5) ? 1 : 0;
    return { victim, aim, variant, web, death: random.pick(DEATHS), pauseMs: random.upTo(pauseMsMax) };
  });
  return random.shuffled(kills);
}
