import type { Details } from "./details";
import { LINK_MINUTES } from "./queue";

/** What a mail says, before it is laid out. Its parts are plain text. */
export type Words = {
  subject: string;
  heading: string;
  /** In their order, above the link. */
  paragraphs: readonly string[];
  action: { label: string; url: string };
  /** Below it: for whom it ends when, and what to do if nobody asked. */
  afterwards: readonly string[];
};

/** What a mail is about, once everything in it is known. `host` names the installation to people. */
export type Subject =
  | { kind: "sign_in_link" | "password_reset"; host: string; url: string; device: string | null }
  | ({ kind: "invitation"; host: string; url: string; expiresAt: Date } & Pick<
      Details["invitation"],
      "team" | "role" | "inviter"
    >);

/** The words of one mail. */
export function wordsOf(about: Subject): Words {
  const { host, url } = about;
  switch (about.kind) {
    case "sign_in_link":
      return {
        subject: `Sign in to Posthorn at ${host}`,
        heading: "Sign in to Posthorn",
        paragraphs: [`${askedBy(about.device)} for a link to sign in at ${host}.`],
        action: { label: "Sign in", url },
        afterwards: [
          `The link opens once, within ${LINK_MINUTES.sign_in_link} minutes.`,
          "If that was not you, ignore this mail: nobody gets in without it. Never pass the link on.",
        ],
      };
    case "password_reset":
      return {
        subject: `A new password for Posthorn at ${host}`,
        heading: "Choose a new password",
        paragraphs: [`${askedBy(about.device)} for a new password at ${host}.`],
        action: { label: "Choose a password", url },
        afterwards: [
          `The link opens once, within ${LINK_MINUTES.password_reset} minutes. A new password ends every session that you have.`,
          "If that was not you, ignore this mail: your password stays as it is. Never pass the link on.",
        ],
      };
    case "invitation":
      return {
        subject: `You are invited to ${oneLine(about.team)} on Posthorn`,
        heading: `Join ${oneLine(about.team)}`,
        paragraphs: [
          `${about.inviter ?? `Whoever runs Posthorn at ${host}`} invites you to the team ${oneLine(about.team)} at ${host}, as ${article(about.role)} ${about.role}.`,
        ],
        action: { label: "Join the team", url },
        afterwards: [
          `The invitation holds until ${about.expiresAt.toISOString().slice(0, 16).replace("T", " ")} UTC, for this address alone.`,
          "If you do not know what this is about, ignore this mail: nothing happens.",
        ],
      };
  }
}

const askedBy = (device: string | null): string =>
  device === null ? "Somebody asked" : `Somebody using ${device} asked`;

const article = (role: string): string => (/^[aeo]/.test(role) ? "an" : "a");

/** A team is called what its people like. */
const oneLine = (name: string): string => name.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ").slice(0, 120);
