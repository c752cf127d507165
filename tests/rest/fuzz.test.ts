import { test } from "vitest";
import { fuzz, requestsOf, seed } from "../fuzz/fuzz";

const requests = requestsOf(500);

test(`${requests} requests, unusual and valid, to all routes (FUZZ_SEED=${seed}); run more with npm run test:fuzz`, async () => {
  await fuzz(requests);
}, 300_000);
