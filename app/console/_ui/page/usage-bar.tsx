type Props = {
  /** What is used, for screen readers. */
  label: string;
  used: number;
  max: number;
  /** The same as text. */
  text: string;
};

/** The share of a limit from which its bar shows a warning. */
const warnShare = 0.8;

/** How much of a limit is used. */
export function UsageBar({ label, used, max, text }: Props) {
  const share = max === 0 ? 1 : Math.min(1, used / max);
  const colour = share >= 1 ? "bg-bad" : share >= warnShare ? "bg-warn" : "bg-accent";
  return (
    <>
      <meter className="sr-only" aria-label={label} min={0} max={Math.max(max, 1)} value={used}>
        {text}
      </meter>
      <div aria-hidden="true" className="h-2 overflow-hidden rounded-full bg-mute-tint">
        <div
          className={`h-full rounded-full motion-safe:transition-[width] ${colour}`}
          style={{ width: `${share * 100}%` }}
        />
      </div>
    </>
  );
}
