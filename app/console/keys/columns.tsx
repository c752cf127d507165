import type { KeyRow } from "#server/trpc/key-views";
import { Badge } from "../_ui/badge";
import type { Column } from "../_ui/data-table";
import { When } from "../_ui/when";
import { TIER_WORDS, TIERS } from "./limits";
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
    id: "limits",
    header: "Limits",
    width: "w-24",
    cell: ({ limits }) => <OwnLimits limits={limits} />,
  },
  {
    id: "refused",
    header: "Refused, 24 h",
    width: "w-28",
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
    cell: (row) => (
      <>
        <KeyStateBadge of={row} />
        <End of={row} />
      </>
    ),
  },
];

/** Until when it lets somebody in; where it ends soon the badge says it. */
function End({ of: { state, expiresAt, endsSoon } }: { of: KeyRow }) {
  if (state === "revoked" || endsSoon) return null;
  return (
    <span className="mt-0.5 block text-soft text-xs max-md:text-right">
      {expiresAt === null ? (
        "no end"
      ) : (
        <>
          {state === "expired" ? "" : "ends "}
          <When at={expiresAt} />
        </>
      )}
    </span>
  );
}

function OwnLimits({ limits }: { limits: KeyRow["limits"] }) {
  const own = TIERS.flatMap((tier) => {
    const limit = limits[tier];
    return limit === undefined ? [] : [`${TIER_WORDS[tier]}: ${limit} a minute`];
  });
  if (own.length === 0) return <span className="text-soft">Usual</span>;
  return <span title={own.join(", ")}>{own.length} of its own</span>;
}

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
