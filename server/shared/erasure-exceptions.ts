/** What the erasure of an address does not change, and why, for the page, the receipts and the test. */
export const EXCEPTIONS = {
  account: "Users, members, invitations and operators are accounts. They end with their membership.",
  settings:
    "Settings and names that the team or the operator wrote are the same for all recipients: domains, keys, endpoints, relays, alerts.",
  templates: "Templates are the team's own texts. The receipt has the number of those with the address.",
} as const;
