import type { KeyRow } from "#server/trpc/key-views";
import { Badge } from "../_ui/badge";
import { When } from "../_ui/when";

/** Whether a key lets anybody in, and until when. */
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
      Ends <When at={expiresAt} />
    </Badge>
  );
}
