import type { Threats } from "./threat";

/** Threats in the sign-in to the console and in sessions. */
export const SIGN_IN: Threats = {
  "guessing a password": [
    [
      "console/sign-in",
      "responds to an unknown address exactly as to a wrong password",
      "is rejected after a few attempts at one account from one IP address, known or not",
      "is rejected after many attempts from one IP address at any accounts",
      "still works for the user while attackers guess from many IP addresses",
    ],
    [
      "console/sign-in-counters",
      "two processes with one database share their limits",
      "one IP address adds a bounded number of counters, however many accounts it names, and they reveal neither",
    ],
    [
      "console/known-device",
      "has its own limit only for its own account; for other accounts the limit of its IP address applies",
    ],
    [
      "console/account",
      "limits guesses in an unattended session to a few attempts per minute; failed attempts end no session",
    ],
  ],
  "lockout of a user by guessing": [
    [
      "console/known-device",
      "lets its user sign in while attackers exhaust every limit, behind the same proxy and elsewhere",
      "cannot guess faster than any other browser",
    ],
  ],
  "an old password after its change": [
    ["console/sign-in", "is rejected with a password that is replaced during verification"],
    ["console/two-factor", "started with a password is deleted when the password changes"],
    ["console/account", "does not overwrite a password that was changed while the current one was verified"],
  ],
  "taking over the account of an invitee": [
    [
      "console/verified-address",
      "the emailed link of an invitation verifies the address, the inviter's link does not",
      "loses access once the owner of the address signs in with an email link",
    ],
    [
      "console/oauth",
      "removes password, factors and sessions that were set up before the address was verified",
    ],
  ],
  "expensive work for unauthenticated requests": [
    ["console/invitations", "for an existing user does not hash or validate the password"],
    [
      "platform/passwords",
      "a password is hashed in a bounded queue, and is rejected at once if the queue is full",
    ],
  ],
  "a sign-in that bypasses 2FA": [
    [
      "console/two-factor",
      "cannot sign in without 2FA by any method",
      "loses all sessions that were opened without 2FA",
      "only one file opens sessions, and only the final sign-in steps call it",
    ],
    ["console/oauth", "requires 2FA of a user who has it on, and then opens the requested page"],
    ["console/passkeys", "signs in with the password and then the passkey, not with the password alone"],
  ],
  "guessing or replaying a 2FA code": [
    [
      "console/two-factor",
      "is accepted once, also concurrently, and no earlier code is accepted after it",
      "can be attempted a few times per challenge, and then the sign-in starts again",
      "cannot be guessed from many IP addresses, and the user is not locked out meanwhile",
      "works once, however it is typed, and is recorded in the account events",
    ],
  ],
  "a passkey response for another challenge or origin": [
    [
      "console/passkeys",
      "is rejected for another origin, host, type or challenge, without user verification, and on reuse",
      "is rejected if the signature counter decreases, as with a cloned passkey",
      "accepts a challenge once, and only from its own user",
    ],
  ],
  "an OAuth account of another person": [
    [
      "console/oauth",
      "rejects an unverified and an unknown address with the same result, and creates no user",
      "signs in the linked user, even if its address has changed or belongs to another user",
      "does not link a second account of the provider to a user",
      "is rejected with a state that is wrong, missing, used or of another browser",
      "is rejected without the PKCE verifier or with an earlier one",
      "rejects an id token that is expired, for another audience, of another key or with another nonce",
    ],
  ],
  "a stolen session": [
    [
      "console/sessions",
      "an ended session is rejected at its next request, and the user's other session is not",
      "a new password ends all sessions of that user only",
      "a forged cookie is not a session",
    ],
    [
      "console/account",
      "rejects its next request; other sessions stay active",
      "requires the current password and ends the other sessions",
    ],
    ["console/two-factor", "requires the password, as does the removal; a code is also accepted"],
  ],
  "cross-site request forgery": [
    ["console/wrong-address", "a host that only the request names is foreign, even if the origin matches it"],
    ["console/two-factor", "accept a 2FA code or a passkey only from our own pages"],
    ["console/oauth", "starts only with a POST from our own page"],
    [
      "console/procedures",
      "from another site, or without an origin, is rejected",
      "with the content type of a form is rejected",
    ],
  ],
  "open redirects": [
    ["console/redirect-path", "after sign-in, the browser opens a local page"],
    [
      "console/oauth",
      "never redirects to another site",
      "returns to the public URL, whatever host the request names",
    ],
  ],
  "another user's session or passkey": [
    [
      "console/account",
      "%s returns the same error as for a missing row, and changes nothing",
      "every procedure of the account is covered",
    ],
  ],
  "secrets in the database": [
    ["console/two-factor", "contains no plaintext secret and no plaintext recovery code"],
    ["console/sign-in", "leaves no password in the database"],
  ],
};
