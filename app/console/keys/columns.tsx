import type { KeyRow } from "#server/trpc/key-views";
import { Badge } from "../_ui/badge";
import type { Column } from "../_ui/data-table";
import { When } from "../_ui/when";
import { sayMay, sayScopes } from "./scopes";
import { KeyStateBadge } from "./state-badge";

/** What a line of the list tells of a key. */
export const KEY_COLUMNS: readonly Column<KeyRow>[] = [
  {
    id: "name",
    header: "Name",
    width: "w-[26%]",
    cell: ({ name, tokenId }) => (
      <>
        <span className="block truncate" title={name}>
          {name}
        </span>
        <span className="block truncate font-mono font-normal text-soft text-xs">re_{tokenId}_…</span>
      </>
    ),
  },
  {
    id: "may",
    header: "May do",
    cell: ({ scopes }) => <span title={sayMay(scopes)}>{sayScopes(scopes)}</span>,
  },
  {
    id: "domains",
    header: "Sends from",
    cell: ({ domains }) => <span title={titleOfDomains(domains)}>{sayDomains(domains)}</span>,
  },
  {
    id: "refused",
    header: "Refused, 24 h",
    width: "w-30",
    cell: ({ refusals }) => <Refused refusals={refusals} />,
  },
  {
    id: "used",
    header: "Last used",
    width: "w-28",
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? <When at={lastUsedAt} /> : <span className="text-soft">Never</span>,
  },
  {
    id: "state",
    header: "State",
    width: "w-32",
    phone: "corner",
    cell: (row) => <KeyStateBadge of={row} />,
  },
];

const sayDomains = (domains: KeyRow["domains"]): string => {
  if (domains === "all") return "Every domain";
  const [first] = domains;
  if (!first) return "No domain";
  return domains.length === 1 ? first.name : `${first.name} +${domains.length - 1}`;
};

const titleOfDomains = (domains: KeyRow["domains"]): string =>
  domains === "all"
    ? "Every domain of the team, those added later too"
    : domains.map(({ name }) => name).join(", ");

function Refused({ refusals }: { refusals: KeyRow["refusals"] }) {
  const { unauthorized, forbidden, rateLimited } = refusals;
  const all = unauthorized + forbidden + rateLimited;
  if (all === 0) return <span className="text-soft">None</span>;
  const title = [
    unauthorized ? `${unauthorized} since it had ended` : "",
    forbidden ? `${forbidden} for lack of permission` : "",
    rateLimited ? `${rateLimited} over its limit` : "",
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <Badge tone="warn" title={title}>
      {all}
    </Badge>
  );
}
