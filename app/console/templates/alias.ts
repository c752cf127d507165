/** The format of an alias, as the server validates it. */
export const ALIAS_RULE = {
  value: /^$|^[a-z0-9][a-z0-9_-]{0,63}$/,
  message: "Use lowercase letters, digits, hyphens or underscores. Start with a letter or digit.",
};

/** Derives an alias from a name: "Welcome, dear Ann" becomes welcome-dear-ann. */
export const aliasOf = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{Mark}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 64)
    .replace(/^-+|-+$/g, "");
