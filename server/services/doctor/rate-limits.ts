import { type DoctorDeps, ok, type Result, warning } from "./finding";

/** Whether the store responds in which all processes count rate limits. */
export async function checkRateLimits({ checkLimitStore }: DoctorDeps): Promise<Result> {
  const fault = await checkLimitStore();
  if (fault === null) return ok("Rate limits are counted.");
  return warning(
    `Redis cannot be used, so each process counts rate limits by itself: ${fault}`,
    "Start Redis, or correct REDIS_URL or UPSTASH_REDIS_REST_URL with its token.",
  );
}
