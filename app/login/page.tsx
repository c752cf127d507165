import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { otherSignInMethods } from "#server/trpc/account/sign-in-pages";
import { hasNoUsers, landingPath, pageSession, systemEmailFault } from "#server/trpc/caller";
import { FormFault } from "../console/_ui/form/form-fault";
import { SignIn } from "./form";
import { SignInFrame } from "./frame";
import { errorMessage } from "./messages";

export const metadata: Metadata = { title: "Sign in" };

type Props = { searchParams: Promise<{ callbackUrl?: string | string[]; error?: string | string[] }> };

/** Sign-in. Redirects a signed-in user to `landing`, and to the setup page until the first user exists. */
export default async function LoginPage({ searchParams }: Props) {
  const { callbackUrl, error } = await searchParams;
  const landing = landingPath(typeof callbackUrl === "string" ? callbackUrl : undefined);
  if (await pageSession()) redirect(landing);
  if (await hasNoUsers()) redirect("/setup");
  const message = errorMessage(typeof error === "string" ? error : undefined);
  return (
    <SignInFrame title="Sign in">
      {message ? (
        <div className="mb-5">
          <FormFault fault={message} />
        </div>
      ) : null}
      <SignIn
        landing={landing}
        canSendEmail={(await systemEmailFault()) === null}
        methods={otherSignInMethods()}
      />
    </SignInFrame>
  );
}
