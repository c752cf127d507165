/**
 * What a person does in one task: pointer clicks, key presses, and characters that they have to type in any
 * product.
 */
export type Effort = { clicks: number; keys: number; typed: number };

/** The ten tasks, each with its start and its end. All start on the overview, signed in. */
export const TASKS = {
  bounce: "Find out why an email bounced",
  retry: "Retry the failed emails of today",
  key: "Create an API key for one domain",
  domain: "Add a domain and copy its DNS records",
  template: "Edit, publish and roll back a template",
  replay: "Replay a failed event delivery",
  import: "Import suppressions from a CSV file",
  invite: "Invite a member",
  twoFactor: "Turn on 2FA with an authenticator app",
  find: "Find an email by its recipient",
} as const;
export type TaskName = keyof typeof TASKS;

/**
 * The most that each task may take. `.github/CONSOLE_TASKS.md` has the same numbers; a test compares them.
 */
export const RECORDED: Record<TaskName, Pick<Effort, "clicks" | "keys">> = {
  bounce: { clicks: 1, keys: 0 },
  retry: { clicks: 5, keys: 0 },
  key: { clicks: 4, keys: 2 },
  domain: { clicks: 3, keys: 2 },
  template: { clicks: 7, keys: 0 },
  replay: { clicks: 3, keys: 0 },
  import: { clicks: 3, keys: 1 },
  invite: { clicks: 1, keys: 2 },
  twoFactor: { clicks: 4, keys: 2 },
  find: { clicks: 0, keys: 2 },
};

/** A click and a key press count the same, because each of them replaces the other. */
export const actionsOf = ({ clicks, keys }: Pick<Effort, "clicks" | "keys">): number => clicks + keys;
