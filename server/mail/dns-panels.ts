import { inQuotes } from "./text-strings";

/** A record as it is known here: its full name, and a value in one piece without quotation marks. */
export type PlainRecord = {
  host: string;
  type: "TXT" | "MX" | "CNAME";
  value: string;
  priority?: number;
};

/** One field of a provider's form, in the order in which they stand there. */
export type PanelField = {
  label: string;
  text: string;
  /** Whether it is typed or pasted; the others are chosen. */
  isTyped: boolean;
};

export type TypedRecord = { fields: PanelField[]; hints: string[] };

type Panel = {
  title: string;
  /** The way to the form, as its menus are called. */
  way: string;
  /** How its form calls the fields. */
  labels: { name: string; text: string; target: string; server: string; priority?: string; ttl: string };
  /** What stands for the zone itself: some take `@`, some an empty field. */
  apex: "@" | "";
  /** `full`: the whole name goes in, since nothing says that the panel adds its zone. */
  names: "relative" | "full";
  /** `quoted`: in quotation marks, strings of 255 characters each; `plain`: in one piece, and the panel cuts it. */
  text: "plain" | "quoted";
  /** Whether a name to point to has to end in a dot, or the zone is added to it. */
  targets: "plain" | "dotted";
  ttl: string;
  /** Names that it does not take, by their length. */
  nameCharsMax?: number;
  /** What is chosen for a CNAME so that it is not hidden behind the provider's own addresses. */
  proxy?: { label: string; text: string };
  /** What holds for every text that is pasted there. */
  textHint: string;
  hints?: { MX?: string; CNAME?: string };
};

const WITHOUT_QUOTES = "Paste the value as it is: the panel adds quotation marks, and cuts what is long.";
const WITH_QUOTES =
  "The quotation marks belong to the value. What is longer than 255 characters stands in several of them, all in one record.";

/** How the forms of large DNS providers want a record typed. In the order in which they are offered. */
export const DNS_PANELS = {
  cloudflare: {
    title: "Cloudflare",
    way: "Your domain → DNS → Records → Add record",
    labels: {
      name: "Name",
      text: "Content",
      target: "Target",
      server: "Mail server",
      priority: "Priority",
      ttl: "TTL",
    },
    apex: "@",
    names: "relative",
    text: "plain",
    targets: "plain",
    ttl: "Auto",
    proxy: { label: "Proxy status", text: "DNS only (the grey cloud)" },
    textHint: WITHOUT_QUOTES,
    hints: {
      CNAME: "Behind the orange cloud the record is hidden by Cloudflare's own addresses.",
    },
  },
  route53: {
    title: "Amazon Route 53",
    way: "Hosted zones → your domain → Create record → Simple routing",
    labels: { name: "Record name", text: "Value", target: "Value", server: "Value", ttl: "TTL (seconds)" },
    apex: "",
    names: "relative",
    text: "quoted",
    targets: "plain",
    ttl: "300",
    textHint: `${WITH_QUOTES} Leave them on one line: a new line begins another record.`,
    hints: {
      MX: "The priority stands in the value, before the server.",
    },
  },
  godaddy: {
    title: "GoDaddy",
    way: "My Products → Domains → DNS → Add New Record",
    labels: {
      name: "Name",
      text: "Value",
      target: "Value",
      server: "Value",
      priority: "Priority",
      ttl: "TTL",
    },
    apex: "@",
    names: "relative",
    text: "plain",
    targets: "plain",
    ttl: "1 hour",
    textHint: WITHOUT_QUOTES,
  },
  namecheap: {
    title: "Namecheap",
    way: "Domain List → Manage → Advanced DNS → Add New Record",
    labels: {
      name: "Host",
      text: "Value",
      target: "Target",
      server: "Value",
      priority: "Priority",
      ttl: "TTL",
    },
    apex: "@",
    names: "relative",
    text: "plain",
    targets: "plain",
    ttl: "Automatic",
    nameCharsMax: 60,
    textHint: WITHOUT_QUOTES,
    hints: {
      MX: "MX records stand apart, under Mail Settings → Custom MX. Where mail for the domain comes in by another setting, keep its records there too.",
    },
  },
  "google-cloud": {
    title: "Google Cloud DNS",
    way: "Cloud DNS → your zone → Add standard",
    labels: {
      name: "DNS name",
      text: "TXT data",
      target: "Canonical name",
      server: "MX data",
      ttl: "TTL",
    },
    apex: "",
    names: "relative",
    text: "quoted",
    targets: "dotted",
    ttl: "5 minutes",
    textHint: `${WITH_QUOTES} Without them every blank would be lost.`,
    hints: {
      MX: "The priority stands in the same field, before the server.",
    },
  },
  squarespace: {
    title: "Squarespace (Google Domains)",
    way: "Domains → your domain → DNS → DNS Settings → Add record",
    labels: { name: "Host", text: "Data", target: "Data", server: "Data", priority: "Priority", ttl: "TTL" },
    apex: "@",
    names: "relative",
    text: "plain",
    targets: "plain",
    ttl: "1 hour",
    textHint: WITHOUT_QUOTES,
  },
  hetzner: {
    title: "Hetzner",
    way: "DNS → your zone → Records → Add record",
    labels: { name: "Name", text: "Value", target: "Value", server: "Value", ttl: "TTL (seconds)" },
    apex: "@",
    names: "relative",
    text: "quoted",
    targets: "dotted",
    ttl: "3600",
    textHint: WITH_QUOTES,
    hints: {
      MX: "The priority stands in the value, before the server. Without the dot at its end the zone would be added.",
      CNAME: "Without the dot at its end the zone would be added.",
    },
  },
  ovh: {
    title: "OVHcloud",
    way: "Domain names → your domain → DNS zone → Add an entry",
    labels: {
      name: "Sub-domain",
      text: "Value",
      target: "Target",
      server: "Target",
      priority: "Priority",
      ttl: "TTL",
    },
    apex: "",
    names: "relative",
    text: "plain",
    targets: "dotted",
    ttl: "By default",
    textHint:
      "Take the form for TXT, not those for SPF or DKIM, which build a value of their own. Paste it as it is.",
    hints: {
      MX: "Without the dot at its end the zone would be added.",
      CNAME: "Without the dot at its end the zone would be added.",
    },
  },
  other: {
    title: "Another provider",
    way: "Wherever the records of your domain's zone are edited",
    labels: {
      name: "Full name",
      text: "Value",
      target: "Value",
      server: "Value",
      priority: "Priority",
      ttl: "TTL",
    },
    apex: "",
    names: "full",
    text: "plain",
    targets: "plain",
    ttl: "3600",
    textHint: "Most panels add quotation marks and cut what is long by themselves.",
    hints: {
      MX: "Where the panel adds the zone to a name without a dot at its end, write one.",
      CNAME: "Where the panel adds the zone to a name without a dot at its end, write one.",
    },
  },
} as const satisfies Record<string, Panel>;

export type DnsPanel = keyof typeof DNS_PANELS;
export const DNS_PANEL_NAMES = Object.keys(DNS_PANELS) as [DnsPanel, ...DnsPanel[]];

/** A record as the form of that provider wants it, in the zone that is edited there. `zone` is the name or above it. */
export function typeInPanel(name: DnsPanel, record: PlainRecord, zone: string): TypedRecord {
  const panel: Panel = DNS_PANELS[name];
  const { type, priority = 0 } = record;
  const { labels } = panel;
  const relative = record.host === zone ? panel.apex : record.host.slice(0, -zone.length - 1);
  const shown = panel.names === "full" ? record.host : relative;
  const fields: PanelField[] = [
    { label: "Type", text: type, isTyped: false },
    { label: labels.name, text: shown, isTyped: true },
  ];
  if (type === "MX" && labels.priority)
    fields.push({ label: labels.priority, text: String(priority), isTyped: true });
  fields.push({ label: labelOf(panel, type), text: valueFor(panel, record), isTyped: true });
  if (type === "CNAME" && panel.proxy)
    fields.push({ label: panel.proxy.label, text: panel.proxy.text, isTyped: false });
  fields.push({ label: labels.ttl, text: panel.ttl, isTyped: false });
  return { fields, hints: hintsFor(panel, record, { relative, zone }) };
}

const labelOf = ({ labels }: Panel, type: PlainRecord["type"]): string =>
  type === "TXT" ? labels.text : type === "MX" ? labels.server : labels.target;

function valueFor({ text, targets, labels }: Panel, { type, value, priority = 0 }: PlainRecord): string {
  if (type === "TXT") return text === "quoted" ? inQuotes(value) : value;
  const target = targets === "dotted" ? `${value}.` : value;
  return type === "MX" && labels.priority === undefined ? `${priority} ${target}` : target;
}

function hintsFor(
  panel: Panel,
  { type }: PlainRecord,
  { relative, zone }: { relative: string; zone: string },
): string[] {
  const hints: string[] = [];
  if (panel.names === "full")
    hints.push(`Where the panel adds ${zone} by itself, the name is only ${relative || "@"}.`);
  else if (relative === "")
    hints.push(`Leave “${panel.labels.name}” empty: the record stands at ${zone} itself.`);
  if (panel.nameCharsMax !== undefined && relative.length > panel.nameCharsMax)
    hints.push(
      `The name has ${relative.length} characters, and this panel takes at most ${panel.nameCharsMax}. A zone of its own for a subdomain makes it shorter.`,
    );
  const own = type === "TXT" ? undefined : panel.hints?.[type];
  if (own) hints.push(own);
  return hints;
}
