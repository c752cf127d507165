/** Description of every route that changes one email. */
export const LINKED_DOMAINS_ONLY =
  "A key linked to specific domains can change only email sent from them; for any other email of the team the response is 403.";
