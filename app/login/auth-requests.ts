export type EmailedLink = "sign_in_link" | "password_reset";

/**
 * The result of a request: an email address, or an error message. `isFinal`: a retry cannot succeed (status
 * 410).
 */
export type RequestResult = { ok: true; email: string } | { ok: false; fault: string; isFinal: boolean };

async function post(path: string, body: Record<string, string>): Promise<RequestResult> {
  try {
    const response = await fetch(`/api/auth/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer: { email?: string; error?: string } = await response.json();
    if (response.ok) return { ok: true, email: answer.email ?? "" };
    return { ok: false, fault: answer.error ?? UNAVAILABLE, isFinal: response.status === 410 };
  } catch {
    return { ok: false, fault: UNAVAILABLE, isFinal: false };
  }
}

const UNAVAILABLE = "Temporarily unavailable. Try again in a moment.";

/** Requests an emailed link. The response is the same whether or not the address has an account. */
export const requestLink = (kind: EmailedLink, email: string, landing: string) =>
  post("link/request", { kind, email, landing });

/** Returns the email address of a link. Reading a link does not use it. */
export const readLink = (kind: EmailedLink, token: string) => post("link/read", { kind, token });

/** Sets a new password with a link. This uses the link. */
export const resetPassword = (token: string, password: string) => post("password/reset", { token, password });

/** Creates the first user with the setup code that is printed at startup. */
export const setUpFirstUser = (code: string, email: string, password: string) =>
  post("first-user", { code, email, password });
