/**
 * The form in which the suppression list keeps addresses and is asked for them: all letters small. RFC 5321 leaves the letter
 * case of a local part to its host, hardly any host tells mailboxes apart by it, and not writing to one too many is the
 * smaller harm. Here and not in SQL, where it would depend on the database's collation.
 */
export const foldAddress = (address: string): string => address.toLowerCase();
