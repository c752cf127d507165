import { STATUSES, type Status } from "#server/shared/email-words";
import { Badge } from "./badge";

/** A status in its color, with its description on hover. */
export function StatusBadge({ status }: { status: Status }) {
  const { label, tone, description } = STATUSES[status];
  return (
    <Badge tone={tone} title={description}>
      {label}
    </Badge>
  );
}
