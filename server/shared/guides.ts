/** The guides in the order of the navigation. Each is `app/docs/guides/NAME.md`, served as `/docs/NAME`. */
export const GUIDE_SECTIONS = [
  {
    title: "Set up",
    guides: ["install", "containers", "systemd", "vercel", "domains", "keys", "roles", "clients", "testing"],
  },
  {
    title: "Send",
    guides: [
      "sending",
      "batch",
      "templates",
      "inline-images",
      "smtp",
      "frameworks",
      "smtp-applications",
      "webhooks",
      "local-webhooks",
      "suppressions",
      "tracking",
      "statistics",
      "deliverability",
      "limits-and-errors",
    ],
  },
  {
    title: "Migrate",
    guides: [
      "migrating",
      "migrating-resend",
      "migrating-sendgrid",
      "migrating-postmark",
      "migrating-ses",
      "migrating-mailgun",
    ],
  },
  {
    title: "Operate",
    guides: [
      "operating",
      "several-machines",
      "metrics",
      "backup",
      "upgrade",
      "moving",
      "security",
      "secrets",
      "personal-data",
    ],
  },
] as const;

/**
 * The tags of the API by the first segment of their paths, in the groups and the order of the navigation.
 */
export const API_TAGS: { title: string; tags: Record<string, { name: string; description: string }> }[] = [
  {
    title: "Operations",
    tags: {
      emails: { name: "Emails", description: "Send email and track its delivery." },
      templates: {
        name: "Templates",
        description: "Versioned content with placeholders. An alias can be used in place of an id.",
      },
      domains: { name: "Domains", description: "Sending domains and their DNS records." },
      "api-keys": { name: "API keys", description: "API keys with their scopes and linked domains." },
      webhooks: {
        name: "Webhooks",
        description: "Endpoints that receive events, signed as Standard Webhooks.",
      },
      suppressions: { name: "Suppressions", description: "Addresses to which no email is sent." },
      "email-events": { name: "Events", description: "All email events, in order and without gaps." },
      usage: { name: "Usage", description: "Email counts by outcome." },
      logs: { name: "Logs", description: "Recent calls of this API, including rejected ones." },
    },
  },
  {
    title: "Links and installation",
    tags: {
      attachments: { name: "Attachments", description: "Attachment downloads by signed links." },
      unsubscribe: {
        name: "Unsubscribe",
        description: "The unsubscribe links in emails.",
      },
      opens: { name: "Opens", description: "The open-tracking pixels in emails." },
      clicks: { name: "Clicks", description: "The tracked links in emails." },
      "tracking-hosts": { name: "Tracking hosts", description: "For the certificates of a proxy." },
      health: { name: "Health", description: "Liveness and readiness probes." },
      inbound: { name: "Inbound", description: "Incoming bounces and complaints." },
      cron: { name: "Cron", description: "For schedulers in installations without a worker." },
      metrics: { name: "Metrics", description: "For Prometheus." },
      "openapi.json": { name: "Reference", description: "This document." },
    },
  },
];

/**
 * The pages of the API reference in the order of the navigation, by their names below `/docs/api`; the first
 * one is `/docs/api` itself. A page of operations is named by the first segment of their paths.
 */
export const API_SECTIONS = [
  { title: "API reference", pages: ["", "errors", "webhook-events"] },
  ...API_TAGS.map(({ title, tags }) => ({
    title,
    pages: Object.keys(tags).map((segment) => segment.replace(".json", "")),
  })),
];

/** Files of the guides, below `/docs`. */
export const GUIDE_FILES = ["guides.css", "guides.js", "api.js", "search.json", "llms.txt"] as const;

const PAGES: readonly string[][] = [
  ...GUIDE_SECTIONS.flatMap(({ guides }) => guides.map((name) => [name])),
  ...API_SECTIONS.flatMap(({ pages }) => pages.map((name) => ["api", name].filter(Boolean))),
];

/**
 * The segments of every path below `/docs` that is created by the build. Each page is also there as Markdown.
 */
export const GUIDE_SEGMENTS: readonly string[][] = [
  [],
  ...PAGES,
  ...[["index"], ...PAGES].map((segments) => [...segments.slice(0, -1), `${segments.at(-1)}.md`]),
  ...GUIDE_FILES.map((name) => [name]),
];

/** Addresses outside `/docs` of documents in it, as `next.config.ts` rewrites them. */
export const GUIDE_ALIASES: Record<string, string> = {
  "/llms.txt": "/docs/llms.txt",
  "/docs.md": "/docs/index.md",
};

const SEGMENTS = new Map(GUIDE_SEGMENTS.map((segments) => [["/docs", ...segments].join("/"), segments]));

/**
 * The segments below `/docs` of a path; null if it is none of these pages and files. A slash at the end makes
 * no difference.
 */
export function guideSegmentsOf(pathname: string): readonly string[] | null {
  const address = pathname.replace(/\/$/, "");
  return SEGMENTS.get(GUIDE_ALIASES[address] ?? address) ?? null;
}

/** Whether a path is one of the guides, of the API reference, or of their files. */
export const isGuidePath = (pathname: string): boolean => guideSegmentsOf(pathname) !== null;

/** The guides are created by the build, so they contain no nonce. Their only script is a file. */
export const GUIDE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
