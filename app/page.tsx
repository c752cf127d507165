import { redirect } from "next/navigation";

/** The console is all there is to see. */
export default function Page() {
  redirect("/console");
}
