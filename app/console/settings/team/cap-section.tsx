import { Section } from "../../_ui/section";

const number = new Intl.NumberFormat("en");

/** How many recipients a day the operator lets this team write to. Shown, and changed at the command line. */
export function CapSection({
  dailyCap,
  handedOverToday,
}: {
  dailyCap: number | null;
  handedOverToday: number;
}) {
  const share = dailyCap ? Math.min(100, Math.round((handedOverToday / dailyCap) * 100)) : 0;
  return (
    <Section
      title="Daily cap"
      note="Set by whoever runs this installation, for all domains of the team together."
    >
      <div className="flex max-w-xl flex-col gap-3 px-5 pb-5">
        {dailyCap === null ? (
          <p>This team may write to any number of recipients a day.</p>
        ) : (
          <>
            <p>
              <strong className="font-semibold tabular-nums">{number.format(handedOverToday)}</strong> of{" "}
              <strong className="font-semibold tabular-nums">{number.format(dailyCap)}</strong> recipients
              today (UTC). What comes above waits for the next day.
            </p>
            <div aria-hidden="true" className="h-2 overflow-hidden rounded-full bg-mute-tint">
              <div className="h-full rounded-full bg-accent" style={{ width: `${share}%` }} />
            </div>
          </>
        )}
      </div>
    </Section>
  );
}
