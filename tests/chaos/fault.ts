import type { Random } from "../support/random";
import type { Load, LoadOptions } from "./load";
import type { Rig, Way } from "./rig";

/** What a fault is given to work with: a rig under load, and chance that its seed decides. */
export type Scene = { rig: Rig; load: Load; random: Random; row: string; times: number; isLate(): boolean };

/** A row of the fault matrix that is injected here. */
export type Fault = {
  /** Names it on the command line and in the labels of its mails. */
  name: string;
  /** As the matrix has it. */
  row: string;
  /** By which way out the rig sends. "disk": a rig of its own, whose database has a disk that can be filled. */
  place: Way | "disk";
  /** How often it is injected; kills are reckoned among the `--kills`. */
  times: { full: number; short: number };
  isKill?: true;
  load?: Partial<Pick<LoadOptions, "clients" | "pauseMsMax" | "destinations" | "scheduledAheadMs">>;
  /** Injects it `times` times while the load goes on; tells how often it was done, and leaves everything as it was. */
  inject(scene: Scene): Promise<number>;
  /** Why this machine cannot do it, or null where it can. */
  unable?(): string | null;
};

/** A row that is not injected here, and why. */
export type NotRun = { row: string; reason: string };
