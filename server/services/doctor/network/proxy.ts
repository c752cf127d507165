import { z } from "zod";
import { newId } from "#server/platform/ids";
import { type DoctorDeps, failure, notChecked, ok, type Result, reasonOf, warning } from "../finding";

/**
 * The path that reports the proxies of a request, by a link that is signed with the installation's secret.
 */
export const HOPS_PATH = "/api/health/hops/{token}" as const;
export const Hops = z.object({
  forwarded: z.int().describe("Entries of X-Forwarded-For: one per reverse proxy."),
  trusted: z.int().describe("Value of BACKSTAMP_TRUSTED_HOPS."),
});

const linkMs = 60_000;

/** Whether a request through the public URL passes as many reverse proxies as BACKSTAMP_TRUSTED_HOPS says. */
export async function checkProxy(deps: DoctorDeps): Promise<Result> {
  const { publicUrl, links, clock } = deps;
  if (deps.isDevelopment) return notChecked("`npm run dev` needs no reverse proxy.");
  if (publicUrl === null) return notChecked("BACKSTAMP_URL is not set, so there is no public URL to call.");
  if (!deps.hasSecret) return notChecked("This needs BACKSTAMP_SECRET, which signs the request.");
  const url = links.make(HOPS_PATH, [newId()], new Date(clock().getTime() + linkMs));
  let response: { status: number; body: unknown };
  try {
    response = await deps.fetchJson(url, AbortSignal.timeout(10_000));
  } catch (error) {
    return warning(
      `${publicUrl} could not be reached from this machine: ${reasonOf(error)}`,
      "Check that Backstamp and its reverse proxy run, and that the name resolves here. Behind some routers a public address cannot be reached from inside.",
    );
  }
  const read = Hops.safeParse(response.body);
  if (response.status !== 200 || !read.success)
    return failure(
      `${publicUrl} responded with status ${response.status}, which is not the response of this installation.`,
      "Check that the reverse proxy passes requests to Backstamp, and that BACKSTAMP_SECRET here is that of the web process.",
    );
  const { forwarded, trusted } = read.data;
  if (forwarded === trusted)
    return ok(
      `Requests to ${publicUrl} pass ${forwarded} reverse proxies, which is the value of BACKSTAMP_TRUSTED_HOPS.`,
    );
  const message = `Requests to ${publicUrl} pass ${forwarded} reverse proxies, and BACKSTAMP_TRUSTED_HOPS is ${trusted}.`;
  const advice = `Set BACKSTAMP_TRUSTED_HOPS=${forwarded}, unless other clients take another way.`;
  return forwarded > trusted
    ? warning(`${message} Visitors share the address of a proxy, and its rate limits.`, advice)
    : failure(`${message} A client can choose its address, and so avoid rate limits.`, advice);
}
