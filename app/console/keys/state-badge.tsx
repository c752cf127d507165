import type { KeyRow } from "#server/trpc/keys/views";
import { Badge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";

/** The state of a key, with its expiry if that is soon. */
export function KeyStateBadge({
  of: { state, expiresAt, endsSoon },
}: {
  of: Pick<KeyRow, "state" | "expiresAt" | "endsSoon">;
}) {
  if (state === "revoked") return <Badge tone="mute">Revoked</Badge>;
  if (state === "expired") return <Badge tone="bad">Expired</Badge>;
  if (expiresAt === null || !endsSoon) return <Badge tone="good">Active</Badge>;
  return (
    <Badge tone="warn">
      Expires <When at={expiresAt} />
    </Badge>
  );
}
