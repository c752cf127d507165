import { z } from "zod";
import { discoveryUrl, isSameIssuer, redirectPath } from "#server/platform/http/oidc-issuer";
import { type DoctorDeps, failure, ok, type Result, reasonOf } from "./finding";

export const SETTINGS_ADVICE = "Correct these settings and restart Backstamp.";

/**
 * Whether the settings are complete for production, and the configured identity provider can be used for
 * sign-in.
 */
export async function checkSettings(deps: DoctorDeps): Promise<Result[]> {
  const { settingsFault, oidcIssuer } = deps;
  return [
    settingsFault === null ? ok("All settings are valid.") : failure(settingsFault, SETTINGS_ADVICE),
    ...(oidcIssuer === null ? [] : [await checkIssuer(deps, oidcIssuer)]),
  ];
}

const SIGN_IN_IMPOSSIBLE = "It cannot be used for sign-in; the other sign-in methods work.";

const Metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
  userinfo_endpoint: z.string().optional(),
  id_token_signing_alg_values_supported: z.array(z.string()).optional(),
});

/** Whether the OpenID provider publishes metadata with which users can sign in. */
async function checkIssuer(deps: DoctorDeps, issuer: string): Promise<Result> {
  const subject = "AUTH_OIDC_ISSUER";
  const url = discoveryUrl(issuer);
  let response: { status: number; body: unknown };
  try {
    response = await deps.fetchJson(url, AbortSignal.timeout(10_000));
  } catch (error) {
    return failure(
      `${url} could not be read: ${reasonOf(error)}. ${SIGN_IN_IMPOSSIBLE}`,
      "Check that the identity provider runs, and that this machine resolves its name and trusts its certificate.",
      subject,
    );
  }
  const read = Metadata.safeParse(response.body);
  if (response.status !== 200 || !read.success)
    return failure(
      `${url} responded with status ${response.status} and no metadata of an OpenID provider. ${SIGN_IN_IMPOSSIBLE}`,
      "Set AUTH_OIDC_ISSUER to the issuer URL that the identity provider names.",
      subject,
    );
  const { issuer: named, id_token_signing_alg_values_supported: algorithms, ...endpoints } = read.data;
  if (!isSameIssuer(named, issuer))
    return failure(
      `${url} names the issuer ${named.slice(0, 200)}. ${SIGN_IN_IMPOSSIBLE}`,
      "Set AUTH_OIDC_ISSUER to the issuer of one tenant or realm, exactly as its metadata names it.",
      subject,
    );
  if (algorithms && !algorithms.includes("RS256"))
    return failure(
      `${issuer} does not sign ID tokens with RS256. ${SIGN_IN_IMPOSSIBLE}`,
      "Choose an RSA signing key for the client at the identity provider.",
      subject,
    );
  const plain = Object.values(endpoints).filter((each) => !each.startsWith("https://"));
  if (issuer.startsWith("https://") && plain.length > 0)
    return failure(
      `${issuer} names endpoints without TLS.`,
      "Set the public HTTPS address in the configuration of the identity provider.",
      subject,
    );
  const redirect = deps.publicUrl === null ? "BACKSTAMP_URL with " : deps.publicUrl;
  return ok(
    `${issuer} can be used for sign-in. The redirect URI is ${redirect}${redirectPath("oidc")}.`,
    subject,
  );
}
