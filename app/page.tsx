import { redirect } from "next/navigation";

/** The root redirects to the console. */
export default function Page() {
  redirect("/console");
}
