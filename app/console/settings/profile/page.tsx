import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage } from "../../console-page";
import { ProfilePage } from "./profile-page";

export const metadata: Metadata = { title: "Profile" };

/** The name and the sign-in address of the user. */
export default consolePage("/console/settings/profile", () => ({
  queries: [trpc.profile.get.queryOptions()],
  page: <ProfilePage />,
}));
