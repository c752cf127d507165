import { redirect } from "next/navigation";
import { consolePage } from "../console-page";

/** Redirects to the profile page, with the team of the query parameter. */
export default consolePage("/console/settings", ({ search: { team } }) =>
  redirect(
    typeof team === "string"
      ? `/console/settings/profile?team=${encodeURIComponent(team)}`
      : "/console/settings/profile",
  ),
);
