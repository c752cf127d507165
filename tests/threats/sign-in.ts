import type { Dangers } from "./dangers";

/** What may be tried at the door of the console, and with a session. */
export const SIGN_IN: Dangers = {
  "guessing a password": [
    [
      "console/sign-in",
      "answers an unknown address exactly like a wrong password",
      "is refused after a few tries at one account from one address, known or not",
      "is refused after many tries from one address at whatever accounts",
      "stays open to an account's owner while strangers everywhere guess at it",
    ],
    [
      "console/account",
      "is not guessed at a screen that was left: a few tries a minute, and no session ends by them",
    ],
  ],
  "keeping an owner out by guessing": [
    [
      "console/known-device",
      "lets its owner in while strangers use up every try, behind the same proxy and everywhere else",
      "guesses no faster than any other",
    ],
  ],
  "an old password after another was written": [
    ["console/sign-in", "opens nothing by a password that is replaced while it is judged"],
    ["console/second-factor", "by a password is over once that password is another, whoever wrote it"],
    [
      "console/account",
      "does not put one in place of another that was written while the present one was judged",
    ],
  ],
  "becoming somebody else by their invitation": [
    [
      "console/proved-address",
      "an invitation's mailed link shows whose the address is, the one that was shown does not",
      "is nobody any more once the owner of the address comes by a mailed link",
    ],
    [
      "console/oauth",
      "takes everything from whoever was the person before anybody had shown that the address is theirs",
    ],
  ],
  "work that a stranger sets": [
    [
      "console/invitations",
      "for an address that has a user sets no work: what is brought is not even judged as a password",
    ],
    [
      "console/sign-in",
      "waits for its turn behind a bounded number of others, and is told at once where those are too many",
    ],
  ],
  "a door that forgets the second factor": [
    [
      "console/second-factor",
      "is let in by no door without it",
      "finds every session ended that was opened by a first proof alone",
      "one file opens sessions, and only what judges a last proof calls it",
    ],
    ["console/oauth", "asks whoever has a second factor for it, and then goes where they wanted"],
    ["console/passkeys", "is not let in by the password alone, but by the passkey after it"],
  ],
  "guessing, or repeating, a code": [
    [
      "console/second-factor",
      "is taken once, also by two at the same moment, and none before it is taken after it",
      "that is wrong is tried a few times, and then the first proof must be given again",
      "is not guessed from many places, and its owner is not kept out meanwhile",
      "opens once, however it is typed, and is told in the account's events",
    ],
  ],
  "a passkey's answer to something else": [
    [
      "console/passkeys",
      "is refused for another page, host, kind or challenge, without the person, and twice",
      "is refused once its count went back, as only a copy's does",
      "answers a challenge once, and only its own person's",
    ],
  ],
  "an account elsewhere that is not the person's": [
    [
      "console/oauth",
      "refuses an address that is not verified and one that nobody has alike, and makes nobody",
      "opens who it was linked to, whatever its address is by now and whoever has that one",
      "does not let a second account of the provider take over the person of the first",
      "is refused by a state that is wrong, missing, used, or another browser's",
      "is refused without the verifier of PKCE, or by one of another time",
      "an id token is refused that is old, for somebody else, from another key or for another time",
    ],
  ],
  "a stolen session": [
    [
      "console/sessions",
      "a session that was ended is refused at its next call, and the person's other one is not",
      "a new password ends every session of that person and of nobody else",
      "a cookie that we did not make is no session",
    ],
    [
      "console/account",
      "is felt at its next call, and by no other",
      "needs the present one, and ends the other sessions",
    ],
    ["console/second-factor", "asks for the password, and so does taking it off; a code will do as well"],
  ],
  "a call made by another site": [
    ["console/second-factor", "take a second step, and a passkey's, only from a page of ours"],
    ["console/oauth", "is asked for by a POST from a page of ours alone"],
    [
      "console/procedures",
      "from another site, or from nowhere, is refused",
      "as a form could send it is refused",
    ],
  ],
  "being sent to another site": [
    ["console/own-path", "after signing in, a person lands on a page of ours"],
    [
      "console/oauth",
      "leads to no other site, whatever was wanted",
      "comes back to the public address, whatever host a call names",
    ],
  ],
  "another person's session or passkey": [
    [
      "console/account",
      "%s answers them like none, and changes nothing",
      "are looked for in every procedure that there is",
    ],
  ],
  "secrets in the database": [
    ["console/second-factor", "holds neither the secret nor a recovery code in the clear"],
    ["console/sign-in", "leaves no password in the database"],
  ],
};
