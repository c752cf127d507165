import type { Deps } from "#server/deps";
import { addRelay, type NewRelay } from "#server/services/relays/write";
import type { SmtpTestServer } from "./servers/smtp-test-server";

/** A relay to a peer on this machine: for everybody, unless it is said for whom. */
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
