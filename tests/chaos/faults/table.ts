import type { Fault, NotRun } from "../fault";
import { cutCommit, deadlock, lockTables, startWithoutDatabase } from "./database";
import {
  dns,
  dropAfterDot,
  dropBeforeDot,
  garbage,
  greylist,
  misleading,
  permanent,
  tarpit,
  temporary,
  tls,
  tooMany,
} from "./destinations";
import { freezeDatabase, freezeWeb, freezeWorker } from "./freeze";
import {
  killAnything,
  killBeforeCommit,
  killDirect,
  killHandedOver,
  killPostgresFault,
  killQueued,
} from "./kill";
import { returns, webhooks } from "./reports";
import { batches, duplicates } from "./requests";
import { backupRestored } from "./restore";
import { killSubmission } from "./submission";
import { clockSkew, diskFull, redis } from "./surroundings";
import { upgrade } from "./upgrade";
import { loginRefused, stopInOrder, ticks, twoWorkers } from "./workers";

/** Every fault that is injected, in order. The last fault of a rig tops up its emails. */
export const FAULTS: readonly Fault[] = [
  killQueued,
  killBeforeCommit,
  killHandedOver,
  killPostgresFault,
  killAnything,
  freezeWorker,
  freezeWeb,
  freezeDatabase,
  cutCommit,
  startWithoutDatabase,
  lockTables,
  deadlock,
  redis,
  clockSkew,
  duplicates,
  batches,
  killSubmission,
  stopInOrder,
  ticks,
  loginRefused,
  webhooks,
  backupRestored,
  twoWorkers,
  temporary,
  permanent,
  tooMany,
  greylist,
  garbage,
  dropBeforeDot,
  dropAfterDot,
  misleading,
  tarpit,
  tls,
  dns,
  returns,
  killDirect,
  diskFull,
  upgrade,
];

/** Rows of the matrix that are not injected here, each with the reason. */
export const NOT_RUN: readonly NotRun[] = [
  {
    row: "poison message",
    reason: "has a separate test, with a worker with little memory: tests/product/poison.test.ts",
  },
  { row: "large messages × concurrency", reason: "has a separate test: tests/product/big-bodies.test.ts" },
  {
    row: "webhook target down for days",
    reason: "the run does not wait for days; the backlog has a test: tests/load/webhook-lanes.test.ts",
  },
  {
    row: "SIGTERM to the web process",
    reason: "has separate tests of the built product: tests/startup, tests/product",
  },
  {
    row: "secret rotated",
    reason:
      "has separate tests, with concurrent changes and real workers: tests/services/secrets/rotation.test.ts, tests/startup/admin-secrets.test.ts",
  },
  {
    row: "retention job; partitions under concurrent workers",
    reason:
      "have separate tests, with rows in every state: tests/delivery/retention.test.ts, tests/delivery/partitions.test.ts, tests/load/webhook-partitions.test.ts",
  },
  {
    row: "erasure interrupted after each step",
    reason: "has a separate test: tests/services/erasures.test.ts",
  },
];
