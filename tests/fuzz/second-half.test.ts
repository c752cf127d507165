import { test } from "vitest";
import { fuzz, requestsOf, seed } from "./fuzz";

const requests = requestsOf(10_000);

test(`${requests} requests, odd and good, over all routes: no 5xx, and nothing of what was refused is kept (FUZZ_SEED=${seed})`, async () => {
  await fuzz(requests);
});
