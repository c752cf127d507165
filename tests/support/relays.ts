import type { Deps } from "#server/deps";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import type { Transport } from "#server/mail/transport/transport";
import { findRelay } from "#server/services/relays/read";
import { addRelay, type NewRelay } from "#server/services/relays/write";
import type { SmtpTestServer } from "./servers/smtp-test-server";

/**
 * Adds a relay to a test server on this machine, as after a successful test: for all teams unless `more`
 * names one.
 */
export const relayTo = async (
  deps: Deps,
  peer: Pick<SmtpTestServer, "port">,
  more: Partial<NewRelay> & { login?: string; query?: string } = {},
) => {
  const { login = "", query = "", ...rest } = more;
  const { id } = await addRelay(deps, {
    name: `relay ${peer.port}`,
    teamId: null,
    domainId: null,
    ...rest,
    url: rest.url ?? `smtp://${login}127.0.0.1:${peer.port}${query}`,
  });
  await deps.hot`update relays set is_untested = false, paused_until = null where id = ${id}`;
  return findRelay(deps, id);
};

/** The transport of an `SMTP_URL` that names a test server on this machine. */
export function transportTo({ port }: { port: number }, login = ""): Transport {
  const url = parseSmtpUrl(`smtp://${login}127.0.0.1:${port}`);
  if (!url.ok) throw new Error(url.fault);
  return createRelay(url.target);
}
