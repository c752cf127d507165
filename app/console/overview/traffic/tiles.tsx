import type { ReactNode } from "react";
import { hourMs, minuteMs } from "#server/shared/durations";
import { STATUSES } from "#server/shared/email-words";
import type { CountsView, TrafficView } from "#server/trpc/overview/traffic-view";
import { formatNumber } from "../../_ui/format-number";
import { cardStyle } from "../../_ui/styles";
import { Badge } from "../../_ui/text/badge";
import { formatChange, formatPercent, LIMITS, type LimitedRate, rateOrNull, toneOfRate } from "./rates";

type Props = Pick<TrafficView, "total" | "previous"> & {
  latency: { p50Ms: number; p95Ms: number; deliveries: number } | null;
};

const NOTHING_SENT = "nothing sent";

/** Key figures of the selected time range, with the change from the time of the same length before. */
export function Tiles({ total, previous, latency }: Props) {
  const deliveryRate = rateOrNull(total, "delivery_rate");
  return (
    <dl className="grid grid-cols-2 gap-3 lg:grid-cols-3">
      <Tile
        name="Accepted"
        value={formatNumber(total.received)}
        note="recipients"
        change={<Change now={total.received} before={previous.received} />}
      />
      <Tile
        name="Delivered"
        title={`Sent: ${STATUSES.sent.description} Delivered: ${STATUSES.delivered.description}`}
        value={total.metrics.sent === 0 ? "–" : formatNumber(total.metrics.delivered)}
        note={
          total.metrics.sent === 0
            ? NOTHING_SENT
            : deliveryRate === null
              ? `of ${formatNumber(total.metrics.sent)} sent`
              : `${formatPercent(deliveryRate)} of ${formatNumber(total.metrics.sent)} sent`
        }
        change={
          <Change now={deliveryRate} before={rateOrNull(previous, "delivery_rate")} isRate label="rate" />
        }
      />
      <RateTile name="Bounced" rate="bounce_rate" value={total.bounced} total={total} previous={previous} />
      <RateTile
        name="Complained"
        rate="complaint_rate"
        value={total.complained}
        total={total}
        previous={previous}
      />
      <Engagement total={total} />
      <Tile
        name="Time to send"
        title="From acceptance, or from the scheduled time, until the status is Sent or Delivered."
        value={latency ? formatMs(latency.p50Ms) : "–"}
        note={latency ? `median; 95% within ${formatMs(latency.p95Ms)}` : "no data"}
        change={latency ? `of the last ${formatNumber(latency.deliveries)} sent` : null}
      />
    </dl>
  );
}

type TileProps = {
  name: string;
  /** What the figure counts. */
  title?: string;
  value: ReactNode;
  note: ReactNode;
  change?: ReactNode;
};

const Tile = ({ name, title, value, note, change }: TileProps) => (
  <div title={title} className={`${cardStyle} min-w-0 px-4 py-3.5`}>
    <dt className="text-soft text-xs">{name}</dt>
    <dd className="mt-1 flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
      <span className="font-semibold text-xl tabular-nums tracking-tight">{value}</span>
      <span className="text-soft text-xs">{note}</span>
      <span className="min-h-4 w-full text-soft text-xs tabular-nums">{change}</span>
    </dd>
  </div>
);

type ChangeProps = { now: number | null; before: number | null; isRate?: boolean; label?: string };

/** The change from the previous period; nothing without a value to compare with. */
function Change({ now, before, isRate = false, label }: ChangeProps) {
  if (now === null || before === null || (!isRate && before === 0)) return null;
  const former = isRate ? formatPercent(before) : formatNumber(before);
  return `${label ? `${label} ` : ""}${formatChange(now, before, isRate)} from ${former}`;
}

type RateTileProps = { name: string; rate: LimitedRate; value: number } & Omit<Props, "latency">;

function RateTile({ name, rate, value, total, previous }: RateTileProps) {
  const { note, of } = LIMITS[rate];
  const percent = rateOrNull(total, rate);
  return (
    <Tile
      name={name}
      value={total.rateOf[rate] === 0 ? "–" : formatNumber(value)}
      note={
        total.metrics.sent === 0 ? (
          NOTHING_SENT
        ) : percent === null ? (
          `of ${formatNumber(total.rateOf[rate])} ${of}`
        ) : (
          <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <Badge tone={toneOfRate(rate, percent)} title={note}>
              {formatPercent(percent)}
            </Badge>
            <span>{note}</span>
          </span>
        )
      }
      change={<Change now={percent} before={rateOrNull(previous, rate)} isRate label="rate" />}
    />
  );
}

/** Opens and clicks of the emails that were tracked. */
function Engagement({ total }: { total: CountsView }) {
  const { opensTracked, clicksTracked, metrics } = total;
  const isTracked = opensTracked > 0 || clicksTracked > 0;
  return (
    <Tile
      name="Opened"
      value={opensTracked > 0 ? formatPercent(metrics.open_rate) : "–"}
      note={
        !isTracked
          ? "no email was tracked"
          : clicksTracked > 0
            ? `clicked ${formatPercent(metrics.click_rate)}`
            : "clicks not tracked"
      }
      change={
        isTracked
          ? `of ${formatNumber(Math.max(opensTracked, clicksTracked))} recipients of tracked emails`
          : null
      }
    />
  );
}

const UNITS = [
  [1_000, 1, "ms"],
  [60_000, 1_000, "s"],
  [hourMs, minuteMs, "min"],
  [Number.POSITIVE_INFINITY, hourMs, "h"],
] as const;

/** "240 ms", "1.8 s", "12 min". */
function formatMs(ms: number): string {
  const [, size, name] = UNITS.find(([below]) => ms < below) ?? UNITS[3];
  const value = ms / size;
  return `${value < 10 && size > 1 ? value.toFixed(1) : Math.round(value)} ${name}`;
}
