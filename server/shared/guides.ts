/** The guides in the order of the navigation. Each is `app/docs/guides/NAME.md`, served as `/docs/NAME`. */
export const GUIDE_SECTIONS = [
  { title: "Set up", guides: ["install", "containers", "systemd", "vercel", "domains", "keys"] },
  {
    title: "Send",
    guides: ["sending", "templates", "smtp", "webhooks", "suppressions", "tracking", "limits-and-errors"],
  },
  {
    title: "Operate",
    guides: [
      "operating",
      "metrics",
      "backup",
      "upgrade",
      "migrating",
      "security",
      "secrets",
      "personal-data",
    ],
  },
] as const;

/** Documents of the repository that guides refer to, by their names below `/docs/reference`. */
export const REFERENCE_DOCUMENTS = {
  api: ".github/API.md",
  smtp: ".github/SMTP.md",
  operations: ".github/OPERATIONS.md",
  vercel: ".github/VERCEL.md",
  "migrating-resend": ".github/migrating/resend.md",
  "migrating-sendgrid": ".github/migrating/sendgrid.md",
  "migrating-postmark": ".github/migrating/postmark.md",
  "migrating-ses": ".github/migrating/ses.md",
  "migrating-mailgun": ".github/migrating/mailgun.md",
  reliability: ".github/RELIABILITY.md",
  performance: ".github/PERFORMANCE.md",
  security: ".github/SECURITY.md",
  changelog: ".github/CHANGELOG.md",
} as const;

/** Files of the guides, below `/docs`. */
export const GUIDE_FILES = ["guides.css", "guides.js", "search.json"] as const;

/** The segments of every path below `/docs` that is created by the build. */
export const GUIDE_SEGMENTS: readonly string[][] = [
  [],
  ...GUIDE_SECTIONS.flatMap(({ guides }) => guides.map((name) => [name])),
  ...Object.keys(REFERENCE_DOCUMENTS).map((name) => ["reference", name]),
  ...GUIDE_FILES.map((name) => [name]),
];

const PATHS = new Set(GUIDE_SEGMENTS.map((segments) => ["/docs", ...segments].join("/")));

/** Whether a path is one of the guides or of their files. A slash at the end makes no difference. */
export const isGuidePath = (pathname: string): boolean => PATHS.has(pathname.replace(/\/$/, ""));

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
