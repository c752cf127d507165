import type { SystemMailKind } from "#db/schema/account";
import type { Details } from "#server/services/system-mail/details";
import { LINK_MINUTES } from "#server/services/system-mail/queue";

/** The content of a system email before layout. All parts are plain text. */
export type SystemEmailContent = {
  subject: string;
  heading: string;
  /** In their order, above the link. */
  paragraphs: readonly string[];
  action: { label: string; url: string };
  /** Below the link: when it expires, and what to do if the recipient did not request it. */
  afterwards: readonly string[];
};

/** The stored data of a system email. `host` is the installation's host name. */
export type OpenedDetails = {
  [Kind in SystemMailKind]: {
    kind: Kind;
    host: string;
    settingsUrl: string;
    expiresAt: Date;
  } & Details[Kind];
}[SystemMailKind];

/** The complete data of a system email. `url` is that of its link. */
export type SystemEmailData = OpenedDetails & { url: string };

/** The subject and texts of a system email. */
export function systemEmailContent(data: SystemEmailData): SystemEmailContent {
  const { host, url } = data;
  switch (data.kind) {
    case "sign_in_link":
      return {
        subject: `Sign in to Backstamp at ${host}`,
        heading: "Sign in to Backstamp",
        paragraphs: [`${requestFrom(data.device)} for a link to sign in at ${host}.`],
        action: { label: "Sign in", url },
        afterwards: [
          `The link works once and expires in ${LINK_MINUTES.sign_in_link} minutes.`,
          "If you did not request it, ignore this email. Do not share the link.",
        ],
      };
    case "password_reset":
      return {
        subject: `Reset your Backstamp password at ${host}`,
        heading: "Choose a new password",
        paragraphs: [`${requestFrom(data.device)} for a password reset at ${host}.`],
        action: { label: "Choose a password", url },
        afterwards: [
          `The link works once and expires in ${LINK_MINUTES.password_reset} minutes. A new password ends all of your sessions.`,
          "If you did not request it, ignore this email. Your password stays unchanged. Do not share the link.",
        ],
      };
    case "new_device":
      return {
        subject: `New sign-in to Backstamp at ${host}`,
        heading: "Sign-in from a new device",
        paragraphs: [
          `Someone signed in to your account on Backstamp at ${host}, in a browser that you have not used for it before.`,
          `Device: ${data.device ?? "unknown browser"}`,
          `Time: ${formatMinute(data.at)}`,
          `IP address: ${data.address}`,
          `Method: ${data.method}`,
        ],
        action: { label: "Review sessions", url },
        afterwards: [
          "If this was you, you do not need to do anything.",
          "If this was not you, open the link, end all other sessions, and change your password and the other sign-in methods. If you can no longer sign in, ask the operator of the installation for help.",
        ],
      };
    case "address_confirmation":
      return {
        subject: `Confirm your email address for Backstamp at ${host}`,
        heading: "Confirm your new email address",
        paragraphs: [
          `${requestFrom(data.device)} to use this address for the account ${data.from} at ${host}, instead of its present one.`,
        ],
        action: { label: "Confirm the address", url },
        afterwards: [
          `The link works once, expires in ${LINK_MINUTES.address_confirmation} minutes, and requires you to be signed in to the account.`,
          "If you did not request it, ignore this email.",
        ],
      };
    case "address_changed":
      return {
        subject: `The email address of your Backstamp account at ${host} was changed`,
        heading: "Your email address was changed",
        paragraphs: [
          `The account at ${host} that had this address now uses ${data.to}. Sign-in links and alerts are sent to the new address.`,
          `Time: ${formatMinute(data.at)}`,
          `Device: ${data.device ?? "unknown browser"}`,
        ],
        action: { label: "Open Backstamp", url },
        afterwards: [
          "If this was you, you do not need to do anything.",
          "If this was not you, ask the operator of the installation for help.",
        ],
      };
    case "invitation":
      return {
        subject: `You are invited to ${oneLine(data.team)} on Backstamp`,
        heading: `Join ${oneLine(data.team)}`,
        paragraphs: [
          `${data.inviter ?? `The operator of Backstamp at ${host}`} invites you to the team ${oneLine(data.team)} at ${host}, as ${article(data.role)} ${data.role}.`,
        ],
        action: { label: "Join the team", url },
        afterwards: [
          `The invitation is only for this address and expires on ${formatMinute(data.expiresAt.toISOString())}.`,
          "If you did not expect this invitation, ignore this email.",
        ],
      };
    case "alert":
      return alertContent(data);
    case "team_deletion":
      return data.event === "requested" ? deletionRequestedContent(data) : deletionCanceledContent(data);
  }
}

type DeletionData = Extract<SystemEmailData, { kind: "team_deletion" }>;

function deletionRequestedContent({ host, url, team, by, deletesAt }: DeletionData): SystemEmailContent {
  const name = oneLine(team);
  const time = formatMinute(deletesAt);
  return {
    subject: `The team ${name} will be deleted on ${time}`,
    heading: `${name} will be deleted`,
    paragraphs: [
      `${by ?? "The operator"} requested the deletion of the team ${name} on Backstamp at ${host}. The team will be deleted on ${time}, with all its emails, domains, API keys and settings.`,
      "Sending is stopped now: the API keys of the team are rejected, its email stays queued, and its webhooks get no events.",
    ],
    action: { label: "Open the team settings", url },
    afterwards: [
      "Until then, an owner of the team can cancel the deletion in the team settings.",
      "You receive this email because you own or administer the team.",
    ],
  };
}

function deletionCanceledContent({ host, url, team, by }: DeletionData): SystemEmailContent {
  const name = oneLine(team);
  return {
    subject: `The team ${name} will not be deleted`,
    heading: `${name} will not be deleted`,
    paragraphs: [
      `${by ?? "The operator"} canceled the deletion of the team ${name} on Backstamp at ${host}.`,
      "The API keys and webhooks of the team work again. Queued email is sent, unless sending is paused.",
    ],
    action: { label: "Open the team settings", url },
    afterwards: ["You receive this email because you own or administer the team."],
  };
}

/** For example `2026-11-30 14:05 UTC`. */
const formatMinute = (time: string): string => `${time.slice(0, 16).replace("T", " ")} UTC`;

const requestFrom = (device: string | null): string =>
  device === null ? "We received a request" : `We received a request from ${device}`;

const article = (role: string): string => (/^[aeo]/.test(role) ? "an" : "a");

/** Names are free text, so control characters are removed and the length is limited. */
export const oneLine = (name: string): string =>
  name.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ").slice(0, 120);

type Item = Details["alert"]["items"][number];

const EVENTS = { opened: "Alert", reminder: "Still open", resolved: "Resolved" } as const;

/** The email about one alert, or the list of several ones. */
function alertContent({ host, url, settingsUrl, items, more }: Extract<SystemEmailData, { kind: "alert" }>) {
  const [first] = items;
  const total = items.length + more;
  const isSingle = first !== undefined && total === 1;
  const heading = isSingle ? headingOf(first) : `${total} alerts at ${host}`;
  return {
    subject: isSingle ? heading : `${heading}: ${summaryOf(items)}`,
    heading,
    paragraphs: [
      ...(isSingle ? textsOf(first) : items.map((item) => `${headingOf(item)}. ${textsOf(item).join(" ")}`)),
      ...(more > 0 ? [`${more} more ${more === 1 ? "alert is" : "alerts are"} in the console.`] : []),
    ],
    action: { label: "Open the console", url },
    afterwards: [
      `You receive alerts of Backstamp at ${host}, because you own or administer a team or operate the installation. To turn them off, open ${settingsUrl}`,
    ],
  };
}

const headingOf = ({ event, title, name, team }: Item): string =>
  `${EVENTS[event]}: ${[title, ...new Set([name, team ?? ""])]
    .filter((part) => part !== "")
    .map(oneLine)
    .join(", ")}`;

/** What happened, and what to do. When it is over, there is nothing to do. */
const textsOf = ({ event, message, toDo }: Item): string[] =>
  event === "resolved" ? [`This is over. It was: ${message}`] : [message, toDo];

function summaryOf(items: readonly Item[]): string {
  const counts = Object.entries(EVENTS).map(([event, word]) => ({
    word: word.toLowerCase(),
    count: items.filter((item) => item.event === event).length,
  }));
  return counts
    .filter(({ count }) => count > 0)
    .map(({ word, count }) => `${count} ${word === "alert" ? "new" : word}`)
    .join(", ");
}
