/** What an alias may look like, as the server says it. */
export const ALIAS_RULE = {
  value: /^$|^[a-z0-9][a-z0-9_-]{0,63}$/,
  message: "Use lower-case letters, digits, hyphens or underscores, beginning with a letter or digit.",
};

/** A name as an alias: "Welcome, dear Ann" is welcome-dear-ann. */
export const aliasOf = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{Mark}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 64)
    .replace(/^-+|-+$/g, "");
