/**
 * The form in which the suppression list stores and looks up addresses: lower case. RFC 5321 leaves the case
 * of a local part to its host, and hardly any host distinguishes mailboxes by case. Suppressing one address
 * too many does less harm than one too few. This is not done in SQL, where the result would depend on the
 * database's collation.
 */
export const foldAddress = (address: string): string => address.toLowerCase();
