/** Where a call leads, or the sentence by which it was refused before anything was tried. */
type Answer = { url: URL | null; said?: string };

/** Talks to the sign-in routes from the browser: each call carries the token that proves it was made on a page of ours. */
async function post(action: string, fields: Record<string, string>): Promise<Answer> {
  const issued: { csrfToken: string } = await (await fetch("/api/auth/csrf")).json();
  const response = await fetch(`/api/auth/${action}`, {
    method: "POST",
    body: new URLSearchParams({ ...fields, csrfToken: issued.csrfToken, json: "true" }),
  });
  const answer: { url?: string; error?: string } = await response.json();
  if (answer.error) return { url: null, said: answer.error };
  return { url: answer.url ? new URL(answer.url, window.location.href) : null };
}

export type SignInFault = "refused" | "too_many_tries" | "step_over" | "unavailable";

const FAULTS: Record<string, SignInFault> = {
  CredentialsSignin: "refused",
  TooManyTries: "too_many_tries",
  StepOver: "step_over",
};

/**
 * Where to go on: the page that was wanted, or the second step that is still owed; or why not. `said` is the server's own
 * sentence, which knows more than any for that fault.
 */
export type SignInResult = { to: string } | { fault: SignInFault; said?: string };

/** By what somebody proves who they are. */
export type Proof = "credentials" | "link" | "passkey" | "second-step";

/** Gives one proof. The session's cookie is set when it was the last one. `landing` is the page that was wanted. */
export async function prove(
  proof: Proof,
  fields: Record<string, string>,
  landing: string,
): Promise<SignInResult> {
  try {
    const { url, said } = await post(`callback/${proof}`, { ...fields, callbackUrl: landing });
    if (said) return { fault: "unavailable", said };
    if (!url || url.searchParams.has("csrf")) return { fault: "unavailable" };
    const error = url.searchParams.get("error");
    // A landing page may have an `error` of its own in its address.
    if (error !== null && isRefusal(url)) return { fault: FAULTS[error] ?? "unavailable" };
    return { to: `${url.pathname}${url.search}` };
  } catch {
    return { fault: "unavailable" };
  }
}

const isRefusal = ({ pathname }: URL) => pathname === "/api/auth/error" || pathname.startsWith("/login");

/** Goes to a provider to sign in by an account there; or says why there is no way to it just now, and the page stays. */
export async function signInElsewhere(provider: string, landing: string): Promise<string | null> {
  const { url, said = "It cannot be reached just now. Try again in a moment." } = await post(
    `signin/${provider}`,
    { callbackUrl: landing },
  ).catch((): Answer => ({ url: null }));
  // Back to our own pages leads only what went wrong.
  if (!url || url.origin === window.location.origin) return said;
  window.location.assign(url);
  return null;
}

/** Ends the session and drops its cookie; or says why not. */
export async function signOut(): Promise<string | null> {
  const { url, said = "Signing out does not work just now. Try again in a moment." } = await post(
    "signout",
    {},
  ).catch((): Answer => ({ url: null }));
  return url ? null : said;
}
