import { test } from "vitest";
import { fuzz, requestsOf, seed } from "../fuzz/fuzz";

const requests = requestsOf(500);

test(`${requests} requests, odd and good, over all routes (FUZZ_SEED=${seed}); more of them by npm run test:fuzz`, async () => {
  await fuzz(requests);
}, 300_000);
