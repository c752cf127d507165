import { test } from "vitest";
import { fuzz, requestsOf, seed } from "./fuzz";

const requests = requestsOf(10_000);

test(`${requests} requests, valid and invalid, over all routes: no 5xx, and rejected requests change nothing (FUZZ_SEED=${seed})`, async () => {
  await fuzz(requests);
});
