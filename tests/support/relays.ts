import type { Deps } from "#server/deps";
import { addRelay, type NewRelay } from "#server/services/relays/write";
import type { SmtpTestServer } from "./servers/smtp-test-server";

/** Adds a relay to a test server on this machine: for all teams unless `more` names one. */
export const relayTo = (
  deps: Deps,
  peer: Pick<SmtpTestServer, "port">,
  more: Partial<NewRelay> & { login?: string; query?: string } = {},
) => {
  const { login = "", query = "", ...rest } = more;
  return addRelay(deps, {
    name: `relay ${peer.port}`,
    teamId: null,
    domainId: null,
    ...rest,
    url: rest.url ?? `smtp://${login}127.0.0.1:${peer.port}${query}`,
  });
};
