import type { ReplyClass } from "#server/shared/reply-classes";

/**
 * One row of the tables of replies. `phrases` holds one phrase per line, or several separated by `|`, in the
 * form that `normalizeWords` gives to a text: lower case, no accents, no punctuation. A phrase starts at the
 * start of a word and may end inside one; a trailing `_` requires the end of a word. `{a/b}` stands for one
 * of several words or sequences of words, and `…` for at most eight words of any kind.
 */
export type ReplyRule = {
  /** Unique. It is in the event and on the timeline of the email. */
  name: string;
  class: ReplyClass;
  /** Only for these rejections. */
  when?: "temporary" | "permanent";
  /** A permanent rejection by this row means that the address will never accept email. */
  suppresses?: true;
  phrases: string;
};
