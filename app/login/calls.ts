export type MailedLink = "sign_in_link" | "password_reset";

/** What a call came to: what was told, or a sentence about what is wrong. `isOver`: it will not be better the next time. */
export type Told = { ok: true; email: string } | { ok: false; fault: string; isOver: boolean };

async function call(path: string, body: Record<string, string>): Promise<Told> {
  try {
    const response = await fetch(`/api/auth/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const told: { email?: string; error?: string } = await response.json();
    if (response.ok) return { ok: true, email: told.email ?? "" };
    return { ok: false, fault: told.error ?? AWAY, isOver: response.status === 410 };
  } catch {
    return { ok: false, fault: AWAY, isOver: false };
  }
}

const AWAY = "This does not work just now. Try again in a moment.";

/** Asks that a link be mailed to whoever has that address here. The answer does not tell whether anybody has. */
export const askForLink = (kind: MailedLink, email: string, landing: string) =>
  call("link/ask", { kind, email, landing });

/** Whose link it is. Looking at it does not use it. */
export const lookAtLink = (kind: MailedLink, token: string) => call("link/look", { kind, token });

/** Chooses another password by a link, which is used by that. */
export const resetPassword = (token: string, password: string) => call("password/reset", { token, password });

/** Makes the first user by the code that the installation printed. */
export const setUpFirstUser = (code: string, email: string, password: string) =>
  call("first-user", { code, email, password });
