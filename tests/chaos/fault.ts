import type { Random } from "../support/random";
import type { Load, LoadOptions } from "./load";
import type { Rig, TransportKind } from "./rig";

/** The context of a fault: a rig under load, and random numbers from the seed. */
export type FaultContext = {
  rig: Rig;
  load: Load;
  random: Random;
  row: string;
  times: number;
  isLate(): boolean;
};

/** A row of the fault matrix that is injected here. */
export type Fault = {
  /** Its name on the command line and in the labels of its emails. */
  name: string;
  /** The text of its row in the matrix. */
  row: string;
  /**
   * The transport of the rig. Separate rigs: the database of "disk" has a small disk, and "upgrade" starts as
   * the latest release.
   */
  place: TransportKind | "disk" | "upgrade";
  /** How often it is injected. Kills are a share of `--kills`. */
  times: { full: number; short: number };
  isKill?: true;
  load?: Partial<Pick<LoadOptions, "clients" | "pauseMsMax" | "destinations" | "scheduledAheadMs">>;
  /** Injects it `times` times under load, returns how often it was injected, and restores everything. */
  inject(context: FaultContext): Promise<number>;
  /** Why this machine cannot inject it, or null. */
  unable?(): string | null;
};

/** A row that is not injected here, and why. */
export type NotRun = { row: string; reason: string };
