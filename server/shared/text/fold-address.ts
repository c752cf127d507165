/**
 * The form in which addresses are compared, and in which the suppression list stores them: lower case. RFC
 * 5321 leaves the case of a local part to its host, and hardly any host distinguishes mailboxes by case.
 * Suppressing one address too many does less harm than one too few. Deliveries and emails keep the address as
 * it was given; `isAddress` of `db/columns.ts` compares them in SQL.
 */
export const foldAddress = (address: string): string => address.toLowerCase();
