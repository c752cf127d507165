/** Talks to the sign-in routes from the browser: each call carries the token that proves it was made on a page of ours. */
async function post(action: string, fields: Record<string, string>): Promise<URL | null> {
  const issued: { csrfToken: string } = await (await fetch("/api/auth/csrf")).json();
  const response = await fetch(`/api/auth/${action}`, {
    method: "POST",
    body: new URLSearchParams({ ...fields, csrfToken: issued.csrfToken, json: "true" }),
  });
  const answer: { url?: string } = await response.json();
  return answer.url ? new URL(answer.url, window.location.href) : null;
}

export type SignInFault = "refused" | "too_many_tries" | "unavailable";

const FAULTS: Record<string, SignInFault> = { CredentialsSignin: "refused", TooManyTries: "too_many_tries" };

/** Signs in; null when it worked. The session cookie is then set. */
export async function signIn(email: string, password: string): Promise<SignInFault | null> {
  try {
    const url = await post("callback/credentials", { email, password });
    if (!url || url.searchParams.has("csrf")) return "unavailable";
    const error = url.searchParams.get("error");
    return error === null ? null : (FAULTS[error] ?? "unavailable");
  } catch {
    return "unavailable";
  }
}

/** Ends the session and drops its cookie. */
export async function signOut(): Promise<void> {
  await post("signout", {});
}
