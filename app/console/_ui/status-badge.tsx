import { STATUSES, type Status, type Tone } from "./statuses";

const TONES: Record<Tone, string> = {
  good: "bg-good-tint text-good",
  bad: "bg-bad-tint text-bad",
  warn: "bg-warn-tint text-warn",
  info: "bg-info-tint text-info",
  mute: "bg-mute-tint text-mute",
};

/** A status in its colour; what it means on hover. */
export function StatusBadge({ status }: { status: Status }) {
  const { label, tone, means } = STATUSES[status];
  return (
    <span
      title={means}
      className={`inline-flex h-6 items-center rounded-md px-2 font-medium text-xs ${TONES[tone]}`}
    >
      {label}
    </span>
  );
}
