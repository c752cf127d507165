import { z } from "zod";
import { renameUser } from "#server/services/people/users";
import { router, signedIn } from "../init";
import { NoInput } from "../strict";

const Name = z.string().trim().max(100, "Enter a name of at most 100 characters.");

/** The user's display name. */
export const profileRouter = router({
  get: signedIn.input(NoInput).query(({ ctx }) => {
    const { email, name } = ctx.signedInAs.user;
    return { email, name };
  }),
  /** An empty name removes it. */
  rename: signedIn
    .input(z.strictObject({ name: Name }))
    .mutation(({ ctx, input }) => renameUser(ctx.deps, ctx.signedInAs.user.id, input.name || null)),
});
