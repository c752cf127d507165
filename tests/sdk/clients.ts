import { Resend as Newest } from "resend";
import { Resend as Older } from "resend-6.22";

/** The client as the newest version types it; the older one has a part of that. */
export type Sdk = Newest;

/** One way in which a program meets Posthorn: a version of the official client, told nothing but an address and a key. */
export type Client = {
  name: string;
  isNewest: boolean;
  /** The address has no `/api`, and the host is `POSTHORN_API_HOST`. */
  isAtRoot: boolean;
  /** Takes address and key from the environment. */
  open(): Sdk;
};

const VERSIONS = [Newest, Older as unknown as typeof Newest];

export const CLIENTS: readonly Client[] = VERSIONS.flatMap((Version) => {
  const { userAgent } = new Version("re_name");
  return [false, true].map((isAtRoot) => ({
    name: `${userAgent}, ${isAtRoot ? "at the root of the API's host" : "below /api"}`,
    isNewest: Version === Newest,
    isAtRoot,
    open: () => new Version(),
  }));
});
