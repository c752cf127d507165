/**
 * The value of `BACKSTAMP_SECRETS_OLD`: a list with commas, or JSON if a secret contains characters of a
 * list.
 */
export const formatSecrets = (secrets: readonly string[]): string =>
  secrets.every((value) => !/[\s,[\]]/.test(value)) ? secrets.join(",") : JSON.stringify(secrets);

/** A variable as a line of an environment file. */
export const formatVariable = (name: string, value: string): string =>
  /[\s[\]]/.test(value) ? `${name}='${value}'` : `${name}=${value}`;
