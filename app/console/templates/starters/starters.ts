import { INVITATION, RESET, WELCOME } from "./account";
import { DIGEST, RECEIPT } from "./content";
import type { Starter } from "./layout";

const BLANK: Starter = {
  value: "blank",
  label: "Empty",
  hint: "For your own HTML from an editor or a build.",
  subject: "",
  html: "<p>Hello {{name}}</p>\n",
  text: null,
  samples: {},
};

export const STARTERS: readonly [Starter, ...Starter[]] = [
  WELCOME,
  RESET,
  RECEIPT,
  INVITATION,
  DIGEST,
  BLANK,
];
