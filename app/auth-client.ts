/**
 * The URL that a call redirects to, or the error message of a call that was rejected before the sign-in was
 * tried.
 */
type AuthResponse = { url: URL | null; message?: string };

/** Calls a sign-in route from the browser. Each call carries a CSRF token. */
async function post(action: string, fields: Record<string, string>): Promise<AuthResponse> {
  const issued: { csrfToken: string } = await (await fetch("/api/auth/csrf")).json();
  const response = await fetch(`/api/auth/${action}`, {
    method: "POST",
    body: new URLSearchParams({ ...fields, csrfToken: issued.csrfToken, json: "true" }),
  });
  const body: { url?: string; error?: string } = await response.json();
  if (body.error) return { url: null, message: body.error };
  return { url: body.url ? new URL(body.url, window.location.href) : null };
}

export type SignInFault = "rejected" | "too_many_attempts" | "expired" | "unavailable";

const FAULTS: Record<string, SignInFault> = {
  CredentialsSignin: "rejected",
  TooManyAttempts: "too_many_attempts",
  Expired: "expired",
};

/**
 * The next page (the landing page or the two-factor page), or the error. `message` is the error message of
 * the server. Display it if it is present, because it is more specific than the text for the error code.
 */
export type SignInResult = { to: string } | { fault: SignInFault; message?: string };

/** How a user proves their identity. */
export type Proof = "credentials" | "link" | "passkey" | "two-factor";

/**
 * Submits one proof of identity. The server sets the session cookie after the last required one. `landing` is
 * the path to open after signing in.
 */
export async function submitProof(
  proof: Proof,
  fields: Record<string, string>,
  landing: string,
): Promise<SignInResult> {
  try {
    const { url, message } = await post(`callback/${proof}`, { ...fields, callbackUrl: landing });
    if (message) return { fault: "unavailable", message };
    if (!url || url.searchParams.has("csrf")) return { fault: "unavailable" };
    const error = url.searchParams.get("error");
    // A landing page may have an `error` parameter of its own.
    if (error !== null && isErrorPage(url)) return { fault: FAULTS[error] ?? "unavailable" };
    return { to: `${url.pathname}${url.search}` };
  } catch {
    return { fault: "unavailable" };
  }
}

/** Signs in with a password that was just set and opens `landing`, or the sign-in page if that fails. */
export async function signInWithPassword(
  email: string,
  password: string,
  landing = "/console",
): Promise<void> {
  const result = await submitProof("credentials", { email, password }, landing);
  window.location.assign("to" in result ? result.to : "/login");
}

const isErrorPage = ({ pathname }: URL) => pathname === "/api/auth/error" || pathname.startsWith("/login");

/**
 * Redirects to an OAuth provider to sign in. If that fails, the page stays and the error message is returned.
 */
export async function signInWithProvider(provider: string, landing: string): Promise<string | null> {
  const { url, message = "The sign-in provider cannot be reached. Try again in a moment." } = await post(
    `signin/${provider}`,
    { callbackUrl: landing },
  ).catch((): AuthResponse => ({ url: null }));
  // A URL of this installation is an error page: a success redirects to the provider.
  if (!url || url.origin === window.location.origin) return message;
  window.location.assign(url);
  return null;
}

/** Ends the session and deletes its cookie. Returns null, or the error message if that fails. */
export async function signOut(): Promise<string | null> {
  const { url, message = "Sign-out failed. Try again in a moment." } = await post("signout", {}).catch(
    (): AuthResponse => ({ url: null }),
  );
  return url ? null : message;
}
