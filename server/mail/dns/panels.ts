import { formatQuotedStrings } from "./text-strings";

/** A DNS record: its full name, and its value unsplit and without quotation marks. */
export type PlainRecord = {
  host: string;
  type: "TXT" | "MX" | "CNAME";
  value: string;
  priority?: number;
};

/** One field of a provider's form. */
export type PanelField = {
  label: string;
  text: string;
  /** Whether the value is typed or pasted; otherwise it is selected from a list. */
  isTyped: boolean;
};

export type PanelEntry = { fields: PanelField[]; hints: string[] };

type Panel = {
  title: string;
  /** Menu path to the form. */
  way: string;
  /** Labels of the form's fields. */
  labels: {
    name: string;
    text: string;
    target: string;
    server: string;
    priority: string | null;
    ttl: string;
  };
  /** Name of the zone itself in the form: `@` or an empty field. */
  apex: "@" | "";
  /** Enter the whole name, because the panel may not append the zone. */
  hasFullNames?: true;
  /** Enter strings of up to 255 characters in quotation marks. Otherwise the panel splits the value. */
  isTextQuoted?: true;
  /** A target must end with a dot, or the panel appends the zone. */
  areTargetsDotted?: true;
  ttl: string;
  /** Maximum length of a name. */
  nameCharsMax?: number;
  /** Setting for a CNAME that prevents the provider's proxy from hiding it. */
  proxy?: { label: string; text: string };
  /** Hint for all TXT values. */
  textHint: string;
  hints?: { MX?: string; CNAME?: string };
};

const WITHOUT_QUOTES =
  "Paste the value unchanged. The panel adds quotation marks and splits long values automatically.";
const WITH_QUOTES =
  "Include the quotation marks. A value longer than 255 characters is split into several quoted strings in one record.";
const TRAILING_DOT = "Include the trailing dot. Without it the panel appends the zone.";
const TRAILING_DOT_IF_APPENDED =
  "If the panel appends the zone to names without a trailing dot, add a trailing dot.";

const LABELS: Panel["labels"] = {
  name: "Name",
  text: "Value",
  target: "Value",
  server: "Value",
  priority: "Priority",
  ttl: "TTL",
};

/** How to enter a record in the forms of large DNS providers, in display order. */
export const DNS_PANELS = {
  cloudflare: {
    title: "Cloudflare",
    way: "Your domain → DNS → Records → Add record",
    labels: { ...LABELS, text: "Content", target: "Target", server: "Mail server" },
    apex: "@",
    ttl: "Auto",
    proxy: { label: "Proxy status", text: "DNS only (gray cloud)" },
    textHint: WITHOUT_QUOTES,
    hints: {
      CNAME: "Do not proxy this record (orange cloud): Cloudflare would return its own addresses instead.",
    },
  },
  route53: {
    title: "Amazon Route 53",
    way: "Hosted zones → your domain → Create record → Simple routing",
    labels: { ...LABELS, name: "Record name", priority: null, ttl: "TTL (seconds)" },
    apex: "",
    isTextQuoted: true,
    ttl: "300",
    textHint: `${WITH_QUOTES} Keep all strings on one line: each line is a separate record.`,
    hints: { MX: "Enter the priority in the value, before the server." },
  },
  godaddy: {
    title: "GoDaddy",
    way: "My Products → Domains → DNS → Add New Record",
    labels: LABELS,
    apex: "@",
    ttl: "1 hour",
    textHint: WITHOUT_QUOTES,
  },
  namecheap: {
    title: "Namecheap",
    way: "Domain List → Manage → Advanced DNS → Add New Record",
    labels: { ...LABELS, name: "Host", target: "Target" },
    apex: "@",
    ttl: "Automatic",
    nameCharsMax: 60,
    textHint: WITHOUT_QUOTES,
    hints: {
      MX: "Add MX records under Mail Settings → Custom MX. If another mail setting is active for this domain, add its records there too.",
    },
  },
  "google-cloud": {
    title: "Google Cloud DNS",
    way: "Cloud DNS → your zone → Add standard",
    labels: {
      ...LABELS,
      name: "DNS name",
      text: "TXT data",
      target: "Canonical name",
      server: "MX data",
      priority: null,
    },
    apex: "",
    isTextQuoted: true,
    areTargetsDotted: true,
    ttl: "5 minutes",
    textHint: `${WITH_QUOTES} Without quotation marks all spaces are lost.`,
    hints: { MX: "Enter the priority in the same field, before the server." },
  },
  squarespace: {
    title: "Squarespace (Google Domains)",
    way: "Domains → your domain → DNS → DNS Settings → Add record",
    labels: { ...LABELS, name: "Host", text: "Data", target: "Data", server: "Data" },
    apex: "@",
    ttl: "1 hour",
    textHint: WITHOUT_QUOTES,
  },
  hetzner: {
    title: "Hetzner",
    way: "DNS → your zone → Records → Add record",
    labels: { ...LABELS, priority: null, ttl: "TTL (seconds)" },
    apex: "@",
    isTextQuoted: true,
    areTargetsDotted: true,
    ttl: "3600",
    textHint: WITH_QUOTES,
    hints: {
      MX: `Enter the priority in the value, before the server. ${TRAILING_DOT}`,
      CNAME: TRAILING_DOT,
    },
  },
  ovh: {
    title: "OVHcloud",
    way: "Domain names → your domain → DNS zone → Add an entry",
    labels: { ...LABELS, name: "Sub-domain", target: "Target", server: "Target" },
    apex: "",
    areTargetsDotted: true,
    ttl: "By default",
    textHint:
      "Use the form for TXT. The forms for SPF and DKIM build a different value. Paste the value unchanged.",
    hints: { MX: TRAILING_DOT, CNAME: TRAILING_DOT },
  },
  other: {
    title: "Other provider",
    way: "Open the DNS settings of your domain's zone",
    labels: { ...LABELS, name: "Full name" },
    apex: "",
    hasFullNames: true,
    ttl: "3600 s",
    textHint: "Most panels add quotation marks and split long values automatically.",
    hints: { MX: TRAILING_DOT_IF_APPENDED, CNAME: TRAILING_DOT_IF_APPENDED },
  },
} as const satisfies Record<string, Panel>;

export type DnsPanel = keyof typeof DNS_PANELS;
export const DNS_PANEL_NAMES = Object.keys(DNS_PANELS) as [DnsPanel, ...DnsPanel[]];

/**
 * Formats a record for a provider's form. `zone` is the zone edited there: the record's name or a parent of
 * it.
 */
export function formatForPanel(name: DnsPanel, record: PlainRecord, zone: string): PanelEntry {
  const panel: Panel = DNS_PANELS[name];
  const { type, priority = 0 } = record;
  const { labels } = panel;
  const relative = record.host === zone ? panel.apex : record.host.slice(0, -zone.length - 1);
  const fields: PanelField[] = [
    { label: "Type", text: type, isTyped: false },
    { label: labels.name, text: panel.hasFullNames ? record.host : relative, isTyped: true },
  ];
  if (type === "MX" && labels.priority)
    fields.push({ label: labels.priority, text: String(priority), isTyped: true });
  const label = { TXT: labels.text, MX: labels.server, CNAME: labels.target }[type];
  fields.push({ label, text: valueFor(panel, record), isTyped: true });
  if (type === "CNAME" && panel.proxy) fields.push({ ...panel.proxy, isTyped: false });
  fields.push({ label: labels.ttl, text: panel.ttl, isTyped: false });
  return { fields, hints: hintsFor(panel, type, relative, zone) };
}

function valueFor(panel: Panel, { type, value, priority = 0 }: PlainRecord): string {
  if (type === "TXT") return panel.isTextQuoted ? formatQuotedStrings(value) : value;
  const target = panel.areTargetsDotted ? `${value}.` : value;
  return type === "MX" && panel.labels.priority === null ? `${priority} ${target}` : target;
}

function hintsFor(panel: Panel, type: PlainRecord["type"], relative: string, zone: string): string[] {
  const hints: string[] = [];
  if (panel.hasFullNames)
    hints.push(`If the panel appends ${zone}, enter only ${relative || "@"} as the name.`);
  else if (relative === "")
    hints.push(`Leave “${panel.labels.name}” empty: the record belongs to ${zone} itself.`);
  if (panel.nameCharsMax !== undefined && relative.length > panel.nameCharsMax)
    hints.push(
      `The name has ${relative.length} characters, but this panel accepts at most ${panel.nameCharsMax}. Create a separate zone for a subdomain to shorten it.`,
    );
  const typeHint = type === "TXT" ? undefined : panel.hints?.[type];
  if (typeHint) hints.push(typeHint);
  return hints;
}
