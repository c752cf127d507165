import { Section } from "../../_ui/page/section";

type Props = { dailyCap: number | null; handedOverToday: number };

const number = new Intl.NumberFormat("en");

/** The daily recipient cap of the team. Read-only: the operator sets it with the CLI. */
export function CapSection({ dailyCap, handedOverToday }: Props) {
  const share = dailyCap ? Math.min(100, Math.round((handedOverToday / dailyCap) * 100)) : 0;
  return (
    <Section title="Daily cap" note="The operator sets this cap for all domains of the team together.">
      <div className="flex max-w-xl flex-col gap-3 px-5 pb-5">
        {dailyCap === null ? (
          <p>No cap. The number of recipients per day is not limited.</p>
        ) : (
          <>
            <p>
              <strong className="font-semibold tabular-nums">{number.format(handedOverToday)}</strong> of{" "}
              <strong className="font-semibold tabular-nums">{number.format(dailyCap)}</strong> recipients
              today (UTC). Email above the cap is queued until the next day.
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
