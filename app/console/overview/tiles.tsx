import type { ReactNode } from "react";
import { cardStyle } from "../_ui/styles";
import { Badge } from "../_ui/text/badge";
import type { Tone } from "../_ui/text/statuses";

type Total = { accepted: number; sent: number; delivered: number; bounced: number; complained: number };
type Latency = { p50Ms: number; p95Ms: number; deliveries: number } | null;

/** Gmail's limits for the spam rate, and the usual limits of providers for the bounce rate. */
const LIMITS = {
  complaints: { good: 0.001, bad: 0.003 },
  bounces: { good: 0.02, bad: 0.05 },
} as const;
/** With fewer recipients than this a rate is not meaningful. */
const recipientsMin = 100;

/** Key figures of the selected time range. */
export function Tiles({ total, latency }: { total: Total; latency: Latency }) {
  // `sent` (a relay's 250) and `delivered` (reported later by its provider) count the same recipient.
  const reached = Math.max(total.sent, total.delivered);
  return (
    <dl className="grid grid-cols-2 gap-3 lg:grid-cols-5">
      <Tile name="Accepted" value={total.accepted.toLocaleString("en")} note="recipients" />
      <Tile
        name="Delivered"
        value={total.delivered.toLocaleString("en")}
        note={`${total.sent.toLocaleString("en")} sent`}
      />
      <RateTile
        name="Bounced"
        part={total.bounced}
        of={reached + total.bounced}
        limits={LIMITS.bounces}
        note="providers block above 5%"
      />
      <RateTile
        name="Complained"
        part={total.complained}
        of={reached}
        limits={LIMITS.complaints}
        note="Gmail: target 0.1%, limit 0.3%"
      />
      <Tile
        name="Delivery time"
        value={latency ? `p50 ${formatMs(latency.p50Ms)}` : "–"}
        note={
          latency
            ? `p95 ${formatMs(latency.p95Ms)}, last ${latency.deliveries.toLocaleString("en")} deliveries`
            : "no deliveries yet"
        }
        isWide
      />
    </dl>
  );
}

type TileProps = { name: string; value: ReactNode; note: ReactNode; isWide?: boolean };

const Tile = ({ name, value, note, isWide = false }: TileProps) => (
  <div className={`${cardStyle} min-w-0 px-4 py-3.5 ${isWide ? "max-lg:col-span-2" : ""}`}>
    <dt className="text-soft text-xs">{name}</dt>
    <dd className="mt-1 flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
      <span className="font-semibold text-xl tabular-nums tracking-tight">{value}</span>
      <span className="text-soft text-xs">{note}</span>
    </dd>
  </div>
);

type RateTileProps = {
  name: string;
  part: number;
  of: number;
  limits: { good: number; bad: number };
  note: string;
};

function RateTile({ name, part, of, limits, note }: RateTileProps) {
  const share = of === 0 ? 0 : part / of;
  const tone: Tone = share <= limits.good ? "good" : share <= limits.bad ? "warn" : "bad";
  return (
    <Tile
      name={name}
      value={part.toLocaleString("en")}
      note={
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          {of >= recipientsMin ? (
            <Badge tone={tone} title={note}>
              {(share * 100).toFixed(share < 0.01 ? 2 : 1)}%
            </Badge>
          ) : null}
          <span>{of >= recipientsMin ? note : `of ${of.toLocaleString("en")}`}</span>
        </span>
      }
    />
  );
}

const UNITS = [
  [1_000, 1, "ms"],
  [60_000, 1_000, "s"],
  [3_600_000, 60_000, "min"],
  [Number.POSITIVE_INFINITY, 3_600_000, "h"],
] as const;

/** "240 ms", "1.8 s", "12 min". */
function formatMs(ms: number): string {
  const [, size, name] = UNITS.find(([below]) => ms < below) ?? UNITS[3];
  const value = ms / size;
  return `${value < 10 && size > 1 ? value.toFixed(1) : Math.round(value)} ${name}`;
}
