import { Badge } from "./badge";
import { STATUSES, type Status } from "./statuses";

/** A status in its colour; what it means on hover. */
export function StatusBadge({ status }: { status: Status }) {
  const { label, tone, means } = STATUSES[status];
  return (
    <Badge tone={tone} title={means}>
      {label}
    </Badge>
  );
}
