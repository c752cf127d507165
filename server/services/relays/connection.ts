import type { Deps } from "#server/deps";
import { formatSmtpUrl, parseSmtpUrl, type SmtpTarget } from "#server/mail/transport/smtp-url";
import { AppError } from "#server/platform/errors";
import { openTarget } from "./connect";
import { findRelay, getSealedRelay } from "./read";

/** How a relay is connected to, without its password. `user` is empty without a login. */
export type RelayConnection = Omit<SmtpTarget, "login"> & { user: string };

/** A connection that a person entered. On a change, an empty password keeps the stored one. */
export type GivenConnection = RelayConnection & { password: string };

/** The connection of a relay. If it cannot be decrypted, only host and port are known. */
export async function getRelayConnection(deps: Deps, id: string): Promise<RelayConnection> {
  const { login, ...target } = (await openStored(deps, id)) ?? (await hostAndPortOf(deps, id));
  return { ...target, user: login?.user ?? "" };
}

/** The URL of a new relay. 422 with a user and no password, or a password and no user. */
export function urlOfConnection({ user, password, ...target }: GivenConnection): string {
  if (user === "" && password !== "")
    throw new AppError("invalid", "Enter the user of this password, or no password.");
  if (user !== "" && password === "") throw new AppError("invalid", "Enter the password of this user.");
  return formatSmtpUrl({ ...target, login: user === "" ? null : { user, pass: password } });
}

/**
 * The URL of a changed connection, null if it is the stored one. The stored password is kept only for the
 * same server and user, so that no change of the host sends it to another server: 422 without a new one.
 */
export async function urlOfChange(deps: Deps, id: string, given: GivenConnection): Promise<string | null> {
  const stored = await openStored(deps, id);
  const { login } = stored ?? {};
  const isSame = login?.user === given.user && stored?.host === given.host && stored?.port === given.port;
  const password = given.password === "" && isSame && login ? login.pass : given.password;
  if (given.user !== "" && password === "")
    throw new AppError("invalid", "Enter the password again: the server or the user was changed.");
  const url = urlOfConnection({ ...given, password });
  return stored && url === formatSmtpUrl(stored) ? null : url;
}

async function openStored(deps: Deps, id: string): Promise<SmtpTarget | null> {
  const sealed = await getSealedRelay(deps, id);
  try {
    return openTarget(deps.vault, sealed);
  } catch {
    return null;
  }
}

async function hostAndPortOf(deps: Deps, id: string): Promise<SmtpTarget> {
  const { host } = await findRelay(deps, id);
  const read = parseSmtpUrl(`smtp://${host}?tls=required`);
  if (!read.ok) throw new Error(`The host ${host} of the relay is invalid. ${read.fault}`);
  return read.target;
}
