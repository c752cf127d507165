import type { KeyRow } from "#server/trpc/keys/views";
import type { Column } from "../_ui/list/data-table";
import { Badge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";
import { TIER_LABELS, TIERS } from "./limits";
import { formatPermissions, formatScopes } from "./scopes";
import { KeyStateBadge } from "./state-badge";

/** The columns of the key list. */
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
    id: "permissions",
    header: "Permissions",
    cell: ({ scopes }) => <span title={formatPermissions(scopes)}>{formatScopes(scopes)}</span>,
  },
  {
    id: "domains",
    header: "Sending domains",
    cell: ({ domains }) => <span title={titleOfDomains(domains)}>{formatDomains(domains)}</span>,
  },
  {
    id: "limits",
    header: "Limits",
    width: "w-24",
    cell: ({ limits }) => <OwnLimits limits={limits} />,
  },
  {
    id: "rejected",
    header: "Rejected (24 h)",
    width: "w-28",
    cell: ({ refusals }) => <RejectedCount refusals={refusals} />,
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
    header: "Status",
    width: "w-32",
    phone: "corner",
    cell: (row) => (
      <>
        <KeyStateBadge of={row} />
        <Expiry of={row} />
      </>
    ),
  },
];

/** The expiry of a key. Nothing if it expires soon, because the badge already shows it. */
function Expiry({ of: { state, expiresAt, endsSoon } }: { of: KeyRow }) {
  if (state === "revoked" || endsSoon) return null;
  return (
    <span className="mt-0.5 block text-soft text-xs max-md:text-right">
      {expiresAt === null ? (
        "No expiry"
      ) : (
        <>
          {state === "expired" ? "" : "Expires "}
          <When at={expiresAt} />
        </>
      )}
    </span>
  );
}

function OwnLimits({ limits }: { limits: KeyRow["limits"] }) {
  const own = TIERS.flatMap((tier) => {
    const limit = limits[tier];
    return limit === undefined ? [] : [`${TIER_LABELS[tier]}: ${limit} per minute`];
  });
  if (own.length === 0) return <span className="text-soft">Default</span>;
  return <span title={own.join(", ")}>{own.length} custom</span>;
}

const formatDomains = (domains: KeyRow["domains"]): string => {
  if (domains === "all") return "All domains";
  const [first] = domains;
  if (!first) return "No domains";
  return domains.length === 1 ? first.name : `${first.name} +${domains.length - 1}`;
};

const titleOfDomains = (domains: KeyRow["domains"]): string =>
  domains === "all"
    ? "All domains of the team, including domains added later"
    : domains.map(({ name }) => name).join(", ");

function RejectedCount({ refusals }: { refusals: KeyRow["refusals"] }) {
  const { unauthorized, forbidden, rateLimited } = refusals;
  const all = unauthorized + forbidden + rateLimited;
  if (all === 0) return <span className="text-soft">None</span>;
  const title = [
    unauthorized ? `${unauthorized} expired or revoked` : "",
    forbidden ? `${forbidden} without permission` : "",
    rateLimited ? `${rateLimited} over the rate limit` : "",
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <Badge tone="warn" title={title}>
      {all}
    </Badge>
  );
}
